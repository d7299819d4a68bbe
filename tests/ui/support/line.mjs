// The connection between browser and hookmitt, which can be cut: an HTTP proxy on its own port.
import { createServer, request } from 'node:http';

/** A proxy that a browser's context uses. */
export class Line {
  #server;
  #open = new Set();
  #lives = new Set();
  #swallows = false;
  /** The data that did not reach the page. */
  swallowed = '';

  static async start() {
    const line = new Line();
    await line.#listen(0);
    return line;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Closes every connection, and refuses new ones. */
  async cut() {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  /** Accepts connections again. */
  mend() {
    return this.#listen(this.port);
  }

  /** From now on no live event reaches the page, though the connection stays open: its reader lags. */
  swallow() {
    this.#swallows = true;
  }

  /** Forwards live events again, and first says how many were missed, as hookmitt does. */
  tell(missed) {
    this.#swallows = false;
    for (const live of this.#lives) live.write(`event: lagged\ndata: {"missed":${missed}}\n\n`);
  }

  #forward(incoming, outgoing) {
    const onward = request(incoming.url, { method: incoming.method, headers: incoming.rawHeaders }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.rawHeaders);
      outgoing.flushHeaders(); // a live stream begins before it has data
      if (answer.headers['content-type'] === 'text/event-stream') this.#live(answer, outgoing);
      else answer.pipe(outgoing);
    });
    outgoing.on('close', () => onward.destroy());
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  }

  #live(answer, outgoing) {
    this.#lives.add(outgoing);
    outgoing.on('close', () => this.#lives.delete(outgoing));
    answer.on('data', (frames) => {
      if (this.#swallows) this.swallowed += frames;
      else outgoing.write(frames);
    });
    answer.on('end', () => outgoing.end());
  }

  #listen(port) {
    const server = createServer((incoming, outgoing) => this.#forward(incoming, outgoing));
    server.on('connection', (socket) => {
      this.#open.add(socket);
      socket.on('close', () => this.#open.delete(socket));
    });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        this.#server = server;
        this.port = server.address().port;
        resolve();
      });
    });
  }
}
