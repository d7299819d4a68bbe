// Measures the UI: node bench.mjs. Prints a table and writes target/bench/ui.json.
// BENCH_MINUTES (5): how long memory is watched. BENCH_EVENTS (100,000): events stored. BENCH_RATE (100): per second.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { bundle } from './bench/bundle.mjs';
import { atTop, shifts, watchShifts, whileScrolling } from './bench/frames.mjs';
import { SEED, fill, streamed } from './bench/load.mjs';
import { watchMemory } from './bench/memory.mjs';
import { write } from './bench/report.mjs';
import { windowOf } from './bench/window.mjs';
import { closeBrowser, openPage } from './support/browser.mjs';
import { Hookmitt, root } from './support/hookmitt.mjs';
import { LocalServer } from './support/server.mjs';
import { Ui } from './support/ui.mjs';

const number = (name, usual) => Number(process.env[name] ?? usual);
const events = number('BENCH_EVENTS', 100_000);
const rate = number('BENCH_RATE', 100);
const minutes = number('BENCH_MINUTES', 5);
const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
const release = (name) => join(target, 'release', name);
const hookmittProgram = process.env.HOOKMITT_BIN ?? release('hookmitt');
const progress = (line) => process.stderr.write(`bench-ui: ${line}\n`);

async function inChromium() {
  const [hookmitt, server] = [await Hookmitt.start({ program: hookmittProgram }), await LocalServer.start()];
  progress(`storing ${events} events`);
  await fill(hookmitt, events);
  await hookmitt.api.target('load', server.url, { order: 'parallel:4' });
  server.forgets = true;
  const { page, watch } = await openPage(hookmitt.api.url);
  const ui = new Ui(page, watch, hookmitt);
  await watchShifts(page);
  const url = await hookmitt.freshUrl(); // the first code is too old by now
  const loaded = await bundle(page, () => page.goto(url));
  await ui.ready();
  const stream = streamed(hookmitt, rate, events);
  progress(`${rate} a second come in: frames at the top, then while scrolling`);
  const top = await atTop(page);
  const scrolling = await whileScrolling(page, ui.list);
  const shift = await shifts(page, ui.list);
  await page.keyboard.press('.');
  progress(`watching the memory for ${minutes} min`);
  const memory = await watchMemory(page, minutes);
  const sent = await stream.end();
  watch.assertQuiet();
  await closeBrowser();
  await hookmitt.remove();
  await server.stop();
  return { bundle: loaded, top, scrolling, shift, memory, sent };
}

const desktop = release('hookmitt-desktop');
if (!existsSync(hookmittProgram)) throw new Error(`${hookmittProgram} is missing: cargo build --release makes it`);
const measured = await inChromium();
progress('starting the window');
measured.window = existsSync(desktop) ? await windowOf(desktop) : null;
const met = write({ ...measured, events, rate, minutes, seed: SEED }, join(target, 'bench'));
process.exit(met ? 0 : 1);
