import { type EventPage, listEvents, type Piece } from '../api/events';
import type { Filter } from './filter';
import { FIRST, PAGE } from './pages';
import { type Row, rowOf } from './row';

/** How far a search has come that takes long. */
export interface Progress {
  /** Everything from this number on was searched; null until that is known. */
  to: number | null;
  /** The newest number; null until it is known. */
  newest: number | null;
}

/** The end of the list: what is older than its last row is read from here on, page by page. */
export class Tail {
  /** The list was read to its end. */
  complete = $state(false);
  /** Whether somebody ended the search before it was done. */
  stopped = $state(false);
  /** Whether older events are being read. */
  reading = $state(false);
  /** How far the search has come; null unless it takes long. */
  progress = $state.raw<Progress | null>(null);

  #cursor: string | null = null;
  #abort = new AbortController();

  /** Starts at the top again. Returns the signal that aborts when that is done another time. */
  reset(): AbortSignal {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#cursor = null;
    this.complete = false;
    this.stopped = false;
    this.reading = false;
    this.progress = null;
    return this.#abort.signal;
  }

  /** Reads on from a number; what is above it is read elsewhere. */
  skipTo(seq: number): void {
    this.#cursor = String(seq);
  }

  /** Aborts what is being read. `goOn` reads on from there. */
  stop(): void {
    const { progress } = this;
    const cursor = this.#cursor;
    this.reset();
    this.#cursor = cursor;
    this.progress = progress;
    this.stopped = true;
  }

  /**
   * Reads on until there are as many rows as a page has, or no more. `take` gets the rows as they come; the first call
   * may have none. A search that takes long goes on by itself.
   *
   * @throws {Problem} if the list could not be read.
   */
  async read(filter: Filter, take: (rows: Row[]) => void): Promise<void> {
    if (this.reading || this.complete) return;
    const { signal } = this.#abort;
    this.reading = true;
    this.stopped = false;
    try {
      let rows = 0;
      do {
        const limit = this.#cursor === null ? FIRST : PAGE;
        const page = await listEvents(filter, { cursor: this.#cursor, limit, signal });
        if (signal.aborted) return;
        this.#cursor = page.next_cursor;
        this.complete = page.next_cursor === null;
        rows += page.items.length;
        take(page.items.map(rowOf));
        if (page.searched_to != null) this.#tell(page.searched_to, signal);
      } while (!this.complete && rows < FIRST && this.progress !== null);
      this.progress = null;
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      if (!signal.aborted) this.reading = false;
    }
  }

  #tell(to: number, signal: AbortSignal) {
    const newest = this.progress?.newest ?? null;
    this.progress = { to, newest };
    if (newest !== null) return;
    void listEvents({}, { limit: 1, signal }).then(
      ({ items }) => {
        if (this.progress && !signal.aborted)
          this.progress = { ...this.progress, newest: items[0]?.seq ?? to };
      },
      () => undefined,
    );
  }
}

/** Returns all events from a place in the list down to a number, at most `most`; null if they could not be read. */
export async function readDown(
  filter: Filter,
  { from, to, most, signal }: { from: number | null; to: number; most: number; signal: AbortSignal },
): Promise<Row[] | null> {
  const rows: Row[] = [];
  let cursor: string | number | null = from;
  for (;;) {
    const piece: Piece = { cursor, limit: PAGE, signal };
    const page: EventPage | null = await listEvents(filter, piece).catch(() => null);
    if (!page || signal.aborted) return null;
    rows.push(...page.items.map(rowOf));
    cursor = page.next_cursor;
    const reached = page.searched_to ?? page.items.at(-1)?.seq ?? 0;
    if (cursor === null || reached <= to || rows.length >= most) return rows;
  }
}
