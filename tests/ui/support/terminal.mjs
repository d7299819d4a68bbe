// A user who starts `hookmitt serve` in a terminal on a desktop; the program that opens files only notes which.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { binary } from './hookmitt.mjs';
import { eventually } from './wait.mjs';

const OPENER = '#!/bin/sh\nprintf %s "$1" >"$NOTES/opened.new"\nmv "$NOTES/opened.new" "$NOTES/opened"\n';

/** The terminal, and the hookmitt in it. */
export class Terminal {
  #child;
  #folder;
  #said = '';

  /** Starts a hookmitt on an empty folder, and waits until it prints where its page is. */
  static async start() {
    const terminal = new Terminal();
    terminal.#folder = mkdtempSync(join(tmpdir(), 'hookmitt-ui-'));
    const notes = terminal.#folder;
    writeFileSync(join(notes, 'xdg-open'), OPENER, { mode: 0o755 });
    const env = {
      ...process.env, HOOKMITT_KEYRING: 'off', NO_COLOR: '1', DISPLAY: ':none', NOTES: notes,
      HOOKMITT_DATA_DIR: join(notes, 'data'), PATH: `${notes}:${process.env.PATH}`,
    };
    delete env.HOOKMITT_TOKEN;
    const typed = `'${binary}' serve --port 0 --api-port 0`;
    terminal.#child = spawn('script', ['--quiet', '--flush', '--command', typed, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    terminal.#child.stdout.on('data', (some) => (terminal.#said += some));
    terminal.ui = await eventually('it says where its page is', () => /UI +(http:\/\/[\d.:]+)\/#code=/.exec(terminal.#said)?.[1]);
    return terminal;
  }

  /** Returns the file that the opener was given. */
  async opened() {
    const note = join(this.#folder, 'opened');
    await eventually('something is opened', () => existsSync(note));
    return readFileSync(note, 'utf8');
  }

  /** Closes the terminal, which also ends the hookmitt in it. */
  async end() {
    this.#child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20 });
  }
}
