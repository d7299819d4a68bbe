// `hookmitt serve` in its own process, on free ports and with its own folder.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Api } from './api.mjs';
import { post } from './senders.mjs';
import { within } from './wait.mjs';

/** The root of the repository. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The binary under test: HOOKMITT_BIN, else the one that `cargo build` makes. */
export const binary = process.env.HOOKMITT_BIN ?? join(process.env.CARGO_TARGET_DIR ?? join(root, 'target'), 'debug/hookmitt');

const run = promisify(execFile);
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

/** A running hookmitt. */
export class Hookmitt {
  #child;
  #program;
  #flags;
  #env = { ...process.env, HOOKMITT_KEYRING: 'off', NO_COLOR: '1' };
  #ended;
  #stays = false;
  said = [];

  /**
   * Starts a hookmitt on an empty folder, with `env` in its environment and `flags` for `serve`; or on a prepared folder,
   * which then stays.
   */
  static async start({ program = binary, env = {}, flags = [], dataDir } = {}) {
    const hookmitt = new Hookmitt();
    hookmitt.#flags = flags;
    Object.assign(hookmitt.#env, env);
    hookmitt.#program = program;
    delete hookmitt.#env.HOOKMITT_TOKEN;
    hookmitt.#stays = dataDir !== undefined;
    hookmitt.dataDir = dataDir ?? mkdtempSync(join(tmpdir(), 'hookmitt-ui-'));
    await hookmitt.#spawn(0, 0);
    return hookmitt;
  }

  /** The process id. */
  get pid() {
    return this.#child.pid;
  }

  /** Posts to the capture port; the result has the event's `id`. */
  post(source, request) {
    return post(this.capture, source, request);
  }

  /** Returns a new URL for the browser, with its own one-time code. */
  async freshUrl() {
    const { stdout } = await run(this.#program, ['url', '--ui', '--data-dir', this.dataDir], { env: this.#env });
    return stdout.trim();
  }

  /** Sends it a signal, and waits until it has ended. */
  async stop(signal = 'SIGINT') {
    this.#child.kill(signal);
    await within('hookmitt ends', this.#ended);
  }

  /** Starts it again on the same folder and the same ports. */
  async startAgain() {
    const port = (url) => new URL(url).port;
    await this.#spawn(port(this.capture), port(this.api.url));
  }

  /** Ends it and removes its folder. */
  async remove() {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.stop('SIGKILL');
    if (!this.#stays) rmSync(this.dataDir, { recursive: true, force: true, maxRetries: 20 });
  }

  async #spawn(port, apiPort) {
    if (!existsSync(this.#program)) throw new Error(`${this.#program} is missing: cargo build -p hookmitt-cli makes it`);
    const args = ['serve', '--no-open', '--port', port, '--api-port', apiPort, '--data-dir', this.dataDir, ...this.#flags];
    this.#child = spawn(this.#program, args, { env: this.#env, stdio: ['ignore', 'ignore', 'pipe'] });
    running.add(this.#child);
    this.#ended = new Promise((resolve) => this.#child.on('exit', resolve));
    this.#ended.then(() => running.delete(this.#child));
    const urls = await within('hookmitt says where it listens', this.#announced());
    this.capture = urls.capture;
    this.openUrl = urls.UI;
    this.api = new Api(urls.API, readFileSync(join(this.dataDir, 'token'), 'utf8').trim());
    this.api.url = urls.API;
  }

  /** Reads whole lines until the ports and the browser's URL were printed; keeps everything that is printed. */
  #announced() {
    this.said = [];
    return new Promise((resolve, reject) => {
      const urls = {};
      createInterface({ input: this.#child.stderr }).on('line', (line) => {
        this.said.push(line);
        const [, name, url] = /^ *(capture|API|UI) +(http\S+)/.exec(line) ?? [];
        if (name) urls[name] = url;
        if (urls.capture && urls.API && urls.UI) resolve(urls);
      });
      this.#child.on('error', reject);
      this.#child.on('exit', () => reject(new Error(`hookmitt ended:\n${this.said.join('\n')}`)));
    });
  }
}
