// Measures the page over a prepared inbox: HOOKMITT_DATA=folder node large.mjs. hookmitt works in that folder, and leaves
// it there. `fill-inbox folder 1000000` makes one. HOOKMITT_BIN names the binary to measure: a release build. A busy
// machine makes everything slow: what is printed says how busy it was, and how long a frame takes when nothing happens.
import { existsSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { changeFilter, rowsAt, watchBlanks, watchStart } from './bench/large_page.mjs';
import { closeBrowser, openPage } from './support/browser.mjs';
import { Hookmitt } from './support/hookmitt.mjs';
import { Ui } from './support/ui.mjs';

// Moved by its thumb, the list is never blank; what was not read yet has placeholders, and rows once the thumb rests.
const LIMITS = { usable_ms: 500, blank_frames: 2, rest_ms: 150, end_ms: 2_000, filter_ms: 100, heap_mib: 64 };
/** How long the list is scrolled each way, in milliseconds. */
const SPAN = Number(process.env.BENCH_SPAN ?? 10_000);
/** How often the page is opened and each filter set: the median counts. */
const RUNS = Number(process.env.BENCH_RUNS ?? 5);
const FILTERS = ['verdict:invalid', 'is:duplicate', 'source:github verdict:valid', 'status:dead_letter', ''];
const FRAME = 16;

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Opens the page in a window of its own, with nothing cached; returns its times, and the page. */
async function opened(hookmitt) {
  const opening = await openPage(hookmitt.api.url, { plain: true });
  await opening.page.addInitScript(watchStart);
  await opening.page.goto(await hookmitt.freshUrl(), { waitUntil: 'commit' });
  await opening.page.waitForFunction(() => window.hookmittMarks?.usable);
  return { ...opening, marks: await opening.page.evaluate(() => window.hookmittMarks) };
}

/** Opens it again and again; the last page stays open. */
async function openings(hookmitt) {
  const all = [];
  let last;
  for (let run = 0; run < RUNS; run += 1) {
    await last?.close();
    last = await opened(hookmitt);
    all.push(last.marks);
  }
  const of = (name) => all.map((marks) => marks[name]);
  return { page: last.page, watch: last.watch, usable: { painted_ms: median(of('painted')), row_ms: median(of('row')), usable_ms: median(of('usable')), runs_ms: of('usable') } };
}

async function blanksDuring(page, what) {
  await page.evaluate(watchBlanks);
  await what();
  return page.evaluate(() => window.hookmittBlanks());
}

/** Calls `step` with the number of the call, for a time, once a frame. */
async function forSpan(step) {
  const end = performance.now() + SPAN;
  for (let at = 0; performance.now() < end; at += 1) {
    await step(at);
    await pause(FRAME);
  }
}

/** Scrolls by the wheel, down and up again. */
async function byWheel(page, list) {
  const { x, y, width, height } = await list.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await forSpan((at) => page.mouse.wheel(0, at % 40 < 30 ? 400 : -800));
}

/** Moves the scroll bar's thumb to a share of the list's height. */
const thumbTo = (list, share) => list.evaluate((element, share) => { element.scrollTop = share * (element.scrollHeight - element.clientHeight); }, share);

/** Moves the thumb through the whole list and back, again and again. */
const byThumb = (list) => forSpan((at) => thumbTo(list, Math.abs(Math.sin(at / 25))));

/** Puts the thumb to one place after the other; returns how long it takes until rows stand there, in milliseconds. */
async function rests(page, list) {
  const times = [];
  for (const share of [0.5, 0.1, 0.9, 0.3, 0.7]) {
    await pause(300);
    times.push(await page.evaluate(rowsAt, share));
  }
  return median(times);
}

/** Puts the thumb to the end until the list has ended; returns the number of rows, and how long that takes. */
async function toEnd(page, list) {
  const begun = performance.now();
  await thumbTo(list, 0);
  do await page.evaluate(rowsAt, 1);
  while (!(await list.evaluate((element) => Number(element.querySelector('[role=option]:last-child')?.getAttribute('aria-setsize')) > 0)));
  const rows = await list.evaluate((element) => Number(element.querySelector('[role=option]:last-child').getAttribute('aria-setsize')));
  return { rows, ms: performance.now() - begun };
}

/** Sets each filter, several times; between two, the page settles, as people read what they found. */
async function filters(page) {
  const times = Object.fromEntries(FILTERS.map((q) => [q, []]));
  for (let run = 0; run < RUNS; run += 1) {
    for (const q of FILTERS) {
      times[q].push(await page.evaluate(changeFilter, q));
      await pause(500);
    }
  }
  return Object.fromEntries(FILTERS.map((q) => [q || '(none)', median(times[q])]));
}

/** Returns what the page holds, after what nobody needs was collected. */
async function held(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (wanted) => metrics.find(({ name }) => name === wanted).value;
  return { heap_mib: of('JSHeapUsedSize') / 1_048_576, nodes: of('Nodes') };
}

function misses({ usable, wheel, thumb, rest_ms, end, filters: times, held: { heap_mib } }) {
  const all = [
    ['usable_ms', usable.usable_ms], ['blank_frames', wheel.longest], ['blank_frames', thumb.longestBlank], ['rest_ms', rest_ms], ['end_ms', end.ms], ['heap_mib', heap_mib],
    ...Object.values(times).map((ms) => ['filter_ms', ms]),
  ];
  return all.filter(([name, value]) => !(value <= LIMITS[name])).map(([name, value]) => `${name}: ${Math.round(value)} is more than ${LIMITS[name]}`);
}

const dataDir = process.env.HOOKMITT_DATA;
if (!dataDir || !existsSync(join(dataDir, 'inbox.db'))) throw new Error('HOOKMITT_DATA names no folder with an inbox.db');
const load = [loadavg()[0]];
const hookmitt = await Hookmitt.start({ dataDir });
const { events } = await hookmitt.api.ask('GET', '/api/stats');
const { page, watch, usable } = await openings(hookmitt);
const { list } = new Ui(page, watch, hookmitt);
const idle = await blanksDuring(page, () => pause(2_000));
const wheel = await blanksDuring(page, () => byWheel(page, list));
const thumb = await blanksDuring(page, () => byThumb(list));
const rest_ms = await rests(page, list);
const end = await toEnd(page, list);
await thumbTo(list, 0);
const measured = { events, usable, idle_frame_ms: idle.p95, wheel, thumb, rest_ms, end, held: await held(page), filters: await filters(page) };
watch.assertQuiet();
await closeBrowser();
await hookmitt.remove();

const missed = misses(measured);
load.push(loadavg()[0]);
const rounded = (_, value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value);
console.log(JSON.stringify({ ...measured, limits: LIMITS, machine: { cores: availableParallelism(), load }, missed }, rounded, 2));
process.exit(missed.length === 0 ? 0 : 1);
