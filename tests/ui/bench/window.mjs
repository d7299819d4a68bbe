// The desktop window: how soon it is shown, and how much memory its main process uses.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

import { within } from '../support/wait.mjs';
import { memoryOf } from './memory.mjs';

const RUNS = 7;
/** How long the window rests before its memory is measured. */
const REST = 5_000;

/** Starts a virtual display; returns its name. */
async function display() {
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1440x900x24', '-nolisten', 'tcp'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const started = new Promise((resolve, reject) => {
    server.on('error', reject);
    createInterface({ input: server.stdio[3] }).on('line', resolve);
  });
  return { name: `:${await within('Xvfb starts', started)}`, end: () => server.kill() };
}

/** Starts the window once; returns the milliseconds until it was shown and, if requested, its memory. */
async function once(program, screen, weigh) {
  const folder = mkdtempSync(join(tmpdir(), 'hookmitt-window-'));
  // A virtual display has no graphics card to share buffers with; WebKit would hold software buffers in our process.
  const env = { ...process.env, DISPLAY: screen, WEBKIT_DISABLE_DMABUF_RENDERER: '1', HOOKMITT_TIMINGS: '1', HOOKMITT_KEYRING: 'off', HOOKMITT_DATA_DIR: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
  const child = spawn(program, ['--port', '0'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => { child.on('exit', resolve); });
  const shown = new Promise((resolve, reject) => {
    const said = [];
    createInterface({ input: child.stderr }).on('line', (line) => {
      said.push(line);
      const took = /^timing: window shown (\d+) ms/.exec(line)?.[1];
      if (took) resolve(Number(took));
    });
    child.on('exit', () => reject(new Error(`the window ended:\n${said.join('\n')}`)));
    child.on('error', reject);
  });
  try {
    const ms = await within('the window is shown', shown, 30_000);
    if (!weigh) return { ms };
    await pause(REST);
    return { ms, mib: memoryOf(child.pid, 'Pss') };
  } finally {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** Starts the window several times; returns the median time and the memory. */
export async function windowOf(program) {
  const screen = await display();
  try {
    await once(program, screen.name, false); // the first start reads everything from the disk
    const runs = [];
    for (let run = 0; run < RUNS; run += 1) runs.push(await once(program, screen.name, run === RUNS - 1));
    const times = runs.map(({ ms }) => ms).sort((one, other) => one - other);
    return { shown_ms: times[Math.floor(RUNS / 2)], runs_ms: times, pss_mb: (runs.at(-1).mib * 1_048_576) / 1_000_000 };
  } finally {
    screen.end();
  }
}
