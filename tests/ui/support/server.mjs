// The developer's own server: it records requests byte for byte, answers as configured, and can be stopped and started.
import { createServer } from 'node:net';

import { eventually } from './wait.mjs';

const HEAD_END = Buffer.from('\r\n\r\n');
const REASONS = { 200: 'OK', 202: 'Accepted', 204: 'No Content', 400: 'Bad Request', 422: 'Unprocessable Content', 500: 'Internal Server Error', 503: 'Service Unavailable' };

/** A request as it reached the server. */
export class Seen {
  constructor(bytes) {
    const end = bytes.indexOf(HEAD_END);
    this.bytes = bytes;
    this.body = bytes.subarray(end + HEAD_END.length);
    [this.line, ...this.lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  }

  /** Returns the first header with this name, ignoring case. */
  header(name) {
    const line = this.lines.find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`));
    return line?.slice(name.length + 1).trim();
  }
}

/** A server on its own port. */
export class LocalServer {
  /** Every request so far. */
  seen = [];
  /** Decides the answer to a request: a status, `{ status, body, after }` (milliseconds), or a promise of one. */
  answer = () => 200;
  /** Whether requests are not recorded, for stories that send many. */
  forgets = false;
  #next = [];
  #server;
  #open = new Set();

  /** Listens on the wished port if it is free, else on any free port. */
  static async start(wished = 0) {
    const server = new LocalServer();
    await server.#listen(wished).catch(() => server.#listen(0));
    return server;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Answers the next requests with these, one after the other. */
  will(...answers) {
    this.#next.push(...answers);
    return this;
  }

  /** Waits until this many requests have arrived. */
  async waitFor(count) {
    await eventually(`${count} requests reach the local server`, () => this.seen.length >= count);
    return this.seen;
  }

  /** Refuses connections from now on. */
  async stop() {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  /** Listens again on the same port. */
  async startAgain() {
    await eventually('the port is free', () => this.#listen(this.port).then(() => true));
  }

  #listen(port) {
    const server = createServer((socket) => this.#serve(socket));
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        this.#server = server;
        this.port = server.address().port;
        resolve();
      });
    });
  }

  #serve(socket) {
    this.#open.add(socket);
    socket.on('close', () => this.#open.delete(socket));
    socket.on('error', () => socket.destroy());
    let bytes = Buffer.alloc(0);
    socket.on('data', async (part) => {
      bytes = Buffer.concat([bytes, part]);
      const whole = request(bytes);
      if (!whole) return;
      if (!this.forgets) this.seen.push(whole);
      await this.#reply(socket, whole);
    });
  }

  async #reply(socket, seen) {
    const given = await (this.#next.length ? this.#next.shift() : this.answer(seen));
    const { status, body = 'ok', after = 0 } = typeof given === 'number' ? { status: given } : given;
    if (after) await new Promise((resolve) => { setTimeout(resolve, after); }); // simulates a slow server
    const type = body.startsWith('{') ? 'application/json' : 'text/plain';
    socket.end(
      `HTTP/1.1 ${status} ${REASONS[status] ?? 'X'}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
      + `Connection: close\r\n\r\n${body}`,
    );
  }
}

/** Returns the request once it is complete. */
function request(bytes) {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return null;
  const length = /\ncontent-length: *(\d+)/i.exec(bytes.subarray(0, end).toString('latin1'))?.[1] ?? 0;
  return bytes.length >= end + HEAD_END.length + Number(length) ? new Seen(bytes) : null;
}
