import { Problem } from '../api/client';

interface PageOf<T> {
  items: T[];
  next_cursor: string | null;
}

/** Reads a page of a list from a cursor on. */
type Read<T> = (cursor: string | null, limit: number) => Promise<PageOf<T>>;

/** How many items a page has, and at most. */
const PAGE = 100;
const LARGEST = 1_000;

/** A list that is read page by page, and from its beginning again when it has changed. */
export class Pager<T> {
  items = $state.raw<readonly T[]>([]);
  /** It was read once. */
  loaded = $state(false);
  /** Why the last read failed. */
  problem = $state.raw<Problem | null>(null);
  #next = $state<string | null>(null);
  readonly #read: Read<T>;
  #reading = 0;
  #busy = false;

  constructor(read: Read<T>) {
    this.#read = read;
  }

  /** Whether there is more than was read. */
  get more(): boolean {
    return this.#next !== null;
  }

  /** Reads what was read again; `anew` forgets that first, because it is another list now. */
  async refresh({ anew = false } = {}): Promise<void> {
    if (anew) [this.items, this.loaded, this.#next] = [[], false, null];
    await this.#take(null, Math.min(LARGEST, Math.max(PAGE, this.items.length)));
  }

  /** Reads the next page. */
  async older(): Promise<void> {
    if (this.#next !== null && !this.#busy) await this.#take(this.#next, PAGE);
  }

  async #take(cursor: string | null, limit: number) {
    const reading = ++this.#reading;
    this.#busy = true;
    try {
      const page = await this.#read(cursor, limit);
      if (reading !== this.#reading) return;
      this.items = cursor === null ? page.items : [...this.items, ...page.items];
      this.#next = page.next_cursor;
      [this.loaded, this.problem] = [true, null];
    } catch (error) {
      if (reading === this.#reading) this.problem = Problem.of(error);
    }
    if (reading === this.#reading) this.#busy = false;
  }
}
