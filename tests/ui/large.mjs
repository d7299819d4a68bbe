// Measures the page over a prepared inbox: HOOKMITT_DATA=folder node large.mjs. hookmitt works in that folder, and leaves
// it there. `fill-inbox folder 1000000` makes one. HOOKMITT_BIN names the binary to measure: a release build.
import { setTimeout as pause } from 'node:timers/promises';

import { closeBrowser, openPage } from './support/browser.mjs';
import { Hookmitt } from './support/hookmitt.mjs';
import { Ui } from './support/ui.mjs';
import { eventually } from './support/wait.mjs';

const LIMITS = { usable_ms: 500, blank_frames: 2, filter_ms: 100 };
/** How long the list is scrolled each way, in milliseconds. */
const SPAN = Number(process.env.BENCH_SPAN ?? 10_000);
const FILTERS = ['verdict:invalid', 'is:duplicate', 'source:github verdict:valid', 'status:dead_letter', ''];

/** Runs in the page: counts, frame by frame, for how many frames in a row a place in sight has no row. */
const watchBlanks = () => {
  const list = document.querySelector('[role=listbox][data-first]');
  const seen = { frames: 0, blank: 0, run: 0, longest: 0, spans: [] };
  let [on, last] = [true, performance.now()];
  const isBlank = () => {
    const { left, top, bottom, width } = list.getBoundingClientRect();
    const end = list.firstElementChild.getBoundingClientRect().bottom; // below it the list has ended
    for (let y = top + 4; y < Math.min(bottom, end) - 4; y += 16) {
      const at = document.elementFromPoint(left + width / 2, y);
      if (!at?.closest('.row, .gap, [role=presentation] > :not(.drawn)')) return true;
    }
    return false;
  };
  const frame = () => {
    const now = performance.now();
    seen.spans.push(now - last);
    last = now;
    seen.frames += 1;
    seen.run = isBlank() ? seen.run + 1 : 0;
    seen.blank += seen.run > 0 ? 1 : 0;
    seen.longest = Math.max(seen.longest, seen.run);
    if (on) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.hookmittBlanks = () => {
    on = false;
    seen.spans.sort((a, b) => a - b);
    return { frames: seen.frames, blank: seen.blank, longest: seen.longest, p95: seen.spans[Math.floor(seen.spans.length * 0.95)] };
  };
};

async function blanksDuring(page, what) {
  await page.evaluate(watchBlanks);
  await what();
  return page.evaluate(() => window.hookmittBlanks());
}

/** Scrolls by the wheel, down and up again. */
async function byWheel(page, list) {
  const { x, y, width, height } = await list.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  const end = performance.now() + SPAN;
  for (let at = 0; performance.now() < end; at += 1) {
    await page.mouse.wheel(0, at % 40 < 30 ? 400 : -800);
    await pause(16); // a frame
  }
}

/** Moves the scroll bar's thumb to the end and back, again and again; what is there is read on. */
async function byThumb(page, list) {
  const end = performance.now() + SPAN;
  for (let at = 0; performance.now() < end; at += 1) {
    const share = Math.abs(Math.sin(at / 25));
    await list.evaluate((element, share) => { element.scrollTop = share * (element.scrollHeight - element.clientHeight); }, share);
    await pause(16); // a frame
  }
}

/** Returns how long it takes from a change of the filter to its first rows, or to the sentence that there are none. */
const filtered = (page, q) => page.evaluate(async (q) => {
  const begun = performance.now();
  location.hash = q ? `#/events?q=${encodeURIComponent(q)}` : '#/events';
  const isDone = () => document.querySelector('[aria-busy=false]') !== null && document.querySelector('.body.old') === null;
  await new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }); // the change is applied
  while (!isDone()) await new Promise(requestAnimationFrame);
  return performance.now() - begun;
}, q);

async function heapOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'JSHeapUsedSize').value / 1_048_576;
}

/** Returns the time from navigating to a list that takes keys. */
async function usable(page, ui, url) {
  const begun = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  await ui.rows.first().waitFor();
  await page.keyboard.press('j');
  await eventually('a key selects an event', async () => (await ui.selected.count()) > 0);
  return performance.now() - begun;
}

const hookmitt = await Hookmitt.start({ dataDir: process.env.HOOKMITT_DATA });
const { page, watch } = await openPage(hookmitt.api.url);
const ui = new Ui(page, watch, hookmitt);
const events = (await hookmitt.api.ask('GET', '/api/stats')).events;
const usable_ms = await usable(page, ui, await hookmitt.freshUrl());
const wheel = await blanksDuring(page, () => byWheel(page, ui.list));
const thumb = await blanksDuring(page, () => byThumb(page, ui.list));
const filters = {};
for (const q of FILTERS) filters[q || '(none)'] = await filtered(page, q);
const heap_mib = await heapOf(page);
await closeBrowser();
await hookmitt.remove();

const met = usable_ms <= LIMITS.usable_ms && wheel.longest <= LIMITS.blank_frames && thumb.longest <= LIMITS.blank_frames
  && Object.values(filters).every((ms) => ms <= LIMITS.filter_ms);
console.log(JSON.stringify({ events, usable_ms, wheel, thumb, filters, heap_mib, limits: LIMITS, met }, (_, value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value), 2));
process.exit(met ? 0 : 1);
