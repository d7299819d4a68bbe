// Whether the page's memory stays flat.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const EVERY = 5_000;
/** The share of the time in which growth is no leak, because things are loaded, compiled and cached at first. */
const WARM_UP_SHARE = 0.2;

/** Returns a figure of a process's memory in MiB, such as `Pss`; null if the system doesn't provide it. */
export function memoryOf(pid, figure) {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return Number(new RegExp(`^${figure}: +(\\d+) kB`, 'm').exec(text)[1]) / 1024;
  } catch {
    return null;
  }
}

async function renderers(browserSession) {
  const { processInfo } = await browserSession.send('SystemInfo.getProcessInfo');
  return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
}

/** Returns the slope of a straight line through points, by least squares. */
export function slope(points) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mx, my] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const above = points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
  return above / points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
}

/** Samples the page's memory every few seconds, after garbage collection; returns samples and growth per minute. */
export async function watchMemory(page, minutes) {
  const session = await page.context().newCDPSession(page);
  const browserSession = await page.context().browser().newBrowserCDPSession();
  await session.send('Performance.enable');
  const [begun, samples] = [performance.now(), []];
  const passed = () => (performance.now() - begun) / 60_000;
  while (passed() < minutes) {
    await pause(EVERY);
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    const metric = (wanted) => metrics.find(({ name }) => name === wanted).value;
    // Only anonymous memory is the page's own; shared memory depends on other processes.
    const own = (await renderers(browserSession)).reduce((sum, pid) => sum + memoryOf(pid, 'Anonymous'), 0);
    samples.push({ minute: passed(), heap_mib: metric('JSHeapUsedSize') / 1_048_576, renderer_mib: own, nodes: metric('Nodes'), listeners: metric('JSEventListeners') });
  }
  const steady = samples.filter(({ minute }) => minute > minutes * WARM_UP_SHARE);
  const growth = (name) => slope(steady.map((sample) => [sample.minute, sample[name]]));
  const last = samples.at(-1);
  return { heap_mib: last.heap_mib, renderer_mib: last.renderer_mib, nodes: last.nodes,
    heap_mib_per_minute: growth('heap_mib'), renderer_mib_per_minute: growth('renderer_mib'), nodes_per_minute: growth('nodes'), samples };
}
