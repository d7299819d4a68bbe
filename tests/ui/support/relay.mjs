// `hookmitt relay` in its own process, on a free port and with its own folder.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { binary } from './hookmitt.mjs';
import { post } from './senders.mjs';
import { within } from './wait.mjs';

const run = promisify(execFile);
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** A running relay. */
export class Relay {
  #child;
  #flags = [];
  #ended;
  #folder = mkdtempSync(join(tmpdir(), 'hookmitt-relay-'));
  said = [];

  /** Starts a relay with an empty store and these flags. */
  static async start(flags = []) {
    const relay = new Relay();
    relay.#flags = flags;
    await relay.#spawn('127.0.0.1:0');
    return relay;
  }

  /** Creates a token. */
  async token() {
    const { stdout } = await run(binary, ['relay', 'token', 'create', '--data-dir', this.#folder]);
    return stdout.trim();
  }

  /** Revokes every token. */
  async revoke() {
    const token = (...args) => run(binary, ['relay', 'token', ...args, '--data-dir', this.#folder]);
    const { stdout } = await token('list', '--json');
    for (const line of stdout.trim().split('\n')) await token('revoke', JSON.parse(line).id);
  }

  /** Posts to a tunnel as a provider does; the result has the event's `id`. */
  post(tunnel, source, request) {
    return post(`${this.url}/${tunnel}`, source, request);
  }

  /** Sends it a signal, and waits until it has ended. */
  async stop(signal = 'SIGINT') {
    this.#child.kill(signal);
    await within('the relay ends', this.#ended);
  }

  /** Starts it again on the same store and the same port. */
  startAgain() {
    return this.#spawn(new URL(this.url).host);
  }

  /** Ends it and removes its folder. */
  async remove() {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.stop('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20 });
  }

  async #spawn(address) {
    this.#child = spawn(binary, ['relay', '--listen', address, '--data-dir', this.#folder, ...this.#flags], { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, NO_COLOR: '1' } });
    running.add(this.#child);
    this.#ended = new Promise((resolve) => this.#child.on('exit', resolve));
    this.#ended.then(() => running.delete(this.#child));
    this.url = `http://${await within('the relay says where it listens', this.#announced())}`;
  }

  #announced() {
    this.said = [];
    return new Promise((resolve, reject) => {
      createInterface({ input: this.#child.stderr }).on('line', (line) => {
        this.said.push(line);
        const [, address] = /^ *listens +(\S+)/.exec(line) ?? [];
        if (address) resolve(address);
      });
      this.#child.on('error', reject);
      this.#child.on('exit', () => reject(new Error(`the relay ended:\n${this.said.join('\n')}`)));
    });
  }
}
