// How long frames take, and whether anything jumps.
import { setTimeout as pause } from 'node:timers/promises';

const SPAN = 20_000;
/** The scrolling speed of a hand, in pixels per second. */
const SPEED = 1_500;

/** Runs in the page: records the time between frames until it is stopped. */
const begin = () => {
  const spans = [];
  let last;
  let on = true;
  const frame = () => {
    const now = performance.now(); // the real time of drawing, because the frame's own timestamp hides delays
    if (last !== undefined) spans.push(now - last);
    last = now;
    if (on) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.hookmittFrames = () => {
    on = false;
    return spans;
  };
};

/** Returns how long the page's main thread has worked, in seconds. */
async function worked(session) {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration').value;
}

async function framesDuring(page, what) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const [begun, before] = [performance.now(), await worked(session)];
  await page.evaluate(begin);
  await what();
  const busy = (await worked(session) - before) / ((performance.now() - begun) / 1000);
  const spans = await page.evaluate(() => window.hookmittFrames());
  spans.sort((one, other) => one - other);
  const percentile = (percent) => spans[Math.min(spans.length - 1, Math.floor((spans.length * percent) / 100))];
  const quick = spans.filter((span) => span < 20).length / spans.length;
  return { frames: spans.length, busy, under_20_ms: quick, p50: percentile(50), p95: percentile(95), p99: percentile(99), longest: spans.at(-1) };
}

/** Measures frames while new events come in at the top. */
export const atTop = (page) => framesDuring(page, () => pause(SPAN));

/** Measures frames while a hand scrolls the list up and down. */
export async function whileScrolling(page, list) {
  const session = await page.context().newCDPSession(page);
  const { x, y, width, height } = await list.boundingBox();
  const gesture = (distance) => session.send('Input.synthesizeScrollGesture', {
    x: x + width / 2, y: y + height / 2, yDistance: distance, speed: SPEED, gestureSourceType: 'mouse', preventFling: true,
  });
  return framesDuring(page, async () => {
    const end = performance.now() + SPAN;
    while (performance.now() < end) {
      await gesture(-SPEED * 4);
      await gesture(SPEED * 3);
    }
  });
}

/** Records every layout shift from the first paint on. */
export const watchShifts = (page) => page.addInitScript(() => {
  window.hookmittShifts = [];
  new PerformanceObserver((seen) => {
    for (const entry of seen.getEntries()) {
      const nodes = entry.sources.map(({ node }) => node).filter(Boolean);
      window.hookmittShifts.push({ value: entry.value, nodes });
    }
  }).observe({ type: 'layout-shift', buffered: true });
});

/** Returns the sum of all layout shifts within the list. */
export const shifts = async (page, list) => (await list.elementHandle()).evaluate((element) =>
  window.hookmittShifts.filter(({ nodes }) => nodes.some((node) => element.contains(node))).reduce((sum, { value }) => sum + value, 0));
