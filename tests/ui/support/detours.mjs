// The world without a relay: a channel that answers like smee.io, and a program that plays cloudflared.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { eventually } from './wait.mjs';

/** A channel like smee.io's. */
export class Channel {
  #open = new Set();
  #server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
    response.write('event: ready\ndata: {}\n\n');
    this.#open.add(response);
    response.on('close', () => this.#open.delete(response));
  });

  static async start() {
    const channel = new Channel();
    await new Promise((resolve) => channel.#server.listen(0, '127.0.0.1', resolve));
    channel.url = `http://127.0.0.1:${channel.#server.address().port}/AbC123`;
    return channel;
  }

  /** Forwards a request, as far as a channel does. */
  async passOn(headers, body) {
    await eventually('somebody listens', async () => this.#open.size > 0);
    const message = { 'content-type': 'application/json', ...headers, body, query: {}, timestamp: Date.now() };
    for (const response of this.#open) response.write(`id: 1\ndata: ${JSON.stringify(message)}\n\n`);
  }

  async stop() {
    for (const response of this.#open) response.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Prints what cloudflared prints, and forwards each connection to its edge to the port that it was given. */
const PLAYER = `
import { renameSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';

const port = Number(new URL(process.argv.at(-1)).port);
const edge = createServer((outside) => {
  const inside = connect(port, '127.0.0.1');
  for (const [one, other] of [[outside, inside], [inside, outside]]) one.on('error', () => other.destroy()).pipe(other);
});
edge.listen(0, '127.0.0.1', () => {
  const url = 'https://run-' + process.pid + '-of-words.trycloudflare.com';
  const file = process.env.QUICK_URL_DIR + '/' + process.pid;
  writeFileSync(file + '.new', JSON.stringify({ pid: process.pid, port: edge.address().port, url }));
  renameSync(file + '.new', file + '.json');
  console.error('2026-11-21T09:00:00Z INF |  ' + url + '  |');
  console.error('2026-11-21T09:00:00Z INF Registered tunnel connection connIndex=0 event=0 ip=198.41.200.13');
});
`;

/** Programs on the PATH of a hookmitt: `stage.hookmitt({ env: programs.env })`. */
export class Programs {
  #folder = mkdtempSync(join(tmpdir(), 'hookmitt-programs-'));

  /** Installs a program that plays cloudflared. */
  install() {
    writeFileSync(join(this.#folder, 'player.mjs'), PLAYER);
    const script = `#!/bin/sh\nexec '${process.execPath}' '${join(this.#folder, 'player.mjs')}' "$@"\n`;
    writeFileSync(join(this.#folder, 'cloudflared'), script, { mode: 0o755 });
  }

  get env() {
    return { PATH: this.#folder, QUICK_URL_DIR: this.#folder };
  }

  /** Returns the run that printed this URL: its `pid`, its `url`, and the `port` of its edge. */
  run(url) {
    const notes = readdirSync(this.#folder).filter((name) => name.endsWith('.json'));
    return notes.map((name) => JSON.parse(readFileSync(join(this.#folder, name), 'utf8'))).find((run) => url.startsWith(run.url));
  }

  remove() {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20 });
  }
}
