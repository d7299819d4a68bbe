/** Parses an event stream (`text/event-stream`) that arrives in pieces of any size. */
export class Frames {
  #decoder = new TextDecoder();
  #rest = '';
  #name = 'message';
  #data: string[] = [];

  constructor(private readonly onFrame: (name: string, data: unknown) => void) {}

  /** Parses the next piece. */
  push(bytes: Uint8Array): void {
    const text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    const lines = text.split(/\r?\n/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
  }

  #line(line: string) {
    if (line === '') return this.#end();
    const colon = line.indexOf(':');
    if (colon === 0) return; // a comment that keeps the connection open
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#name = value;
    if (field === 'data') this.#data.push(value);
  }

  #end() {
    const [name, data] = [this.#name, this.#data.join('\n')];
    this.#name = 'message';
    this.#data = [];
    if (data !== '') this.onFrame(name, JSON.parse(data));
  }
}
