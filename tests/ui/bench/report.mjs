// The table and the JSON file.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, platform } from 'node:os';
import { join } from 'node:path';

let missed = 0;

function line(name, value, digits = 2, limit) {
  const shown = value === null || value === undefined ? 'not measured' : value.toFixed(digits);
  let wanted = '';
  if (limit !== undefined) {
    const { met, text } = limit;
    if (!met) missed += 1;
    wanted = `${text}  ${met ? 'met' : 'MISSED'}`;
  }
  console.log(`${name.padEnd(44)} ${shown.padStart(14)}   ${wanted}`.trimEnd());
}

const atMost = (name, value, most, digits = 2) => line(name, value, digits, { met: value !== null && value <= most, text: `${most} or less` });
const atLeast = (name, value, least, digits = 2) => line(name, value, digits, { met: value >= least, text: `${least} or more` });

const said = (...command) => {
  try {
    return execFileSync(command[0], command.slice(1), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
};

function table({ top, scrolling, shift, memory, bundle, window, sent }) {
  line('events a second, really', sent, 1);
  atLeast('frames under 20 ms at the top, %', top.under_20_ms * 100, 95, 1);
  line('frame at the top, p50, ms', top.p50, 1);
  line('frame at the top, p95, ms', top.p95, 1);
  line('main thread at work at the top, %', top.busy * 100, 1);
  atLeast('frames under 20 ms while scrolling, %', scrolling.under_20_ms * 100, 95, 1);
  line('frame while scrolling, p95, ms', scrolling.p95, 1);
  line('main thread at work while scrolling, %', scrolling.busy * 100, 1);
  atMost('layout shift of the list', shift, 0, 4);
  line('JS heap, MiB', memory.heap_mib);
  atMost('JS heap grows, MiB a minute', memory.heap_mib_per_minute, 0.5);
  line('page process, its own memory, MiB', memory.renderer_mib);
  atMost('page process grows, MiB a minute', memory.renderer_mib_per_minute, 2);
  atMost('scripts and styles at start, gzip, KB', bundle.gzip_kb, 220, 1);
  line('fonts at start, KB', bundle.fonts_kb, 1);
  atMost('window shown, ms', window?.shown_ms ?? null, 350, 0);
  atMost('main process of the window, PSS, MB', window?.pss_mb ?? null, 90, 1);
}

/** Prints the table and writes the file; returns whether every limit was met. */
export function write(measured, folder) {
  table(measured);
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), system: platform(), arch: arch() };
  const commit = said('git', 'rev-parse', 'HEAD');
  const json = { ...measured, machine, commit, changed_since: said('git', 'status', '--porcelain') !== '' };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'ui.json'), `${JSON.stringify(json, null, 2)}\n`);
  return missed === 0;
}
