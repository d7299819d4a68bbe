import type { Row } from './row';

/** How many rows are asked for at a time. */
export const PAGE = 200;

/** How many pages keep their rows beside those in sight. */
const KEPT = 12;

/** A stretch of the list. Its rows can be let go and asked for again. */
export interface Page {
  /** Its rows have a lower number than this; null: none is too high. */
  before: number | null;
  /** The lowest number in it. */
  last: number;
  count: number;
  /** Null: let go. */
  rows: Row[] | null;
}

/** The list of all events, newest first, of which only the stretches near the window are kept. */
export class Pages {
  list: Page[] = [];

  /** How many rows there are, with those that were let go. */
  get length(): number {
    return this.list.reduce((sum, page) => sum + page.count, 0);
  }

  /** The highest number; 0 without rows. */
  get newest(): number {
    return this.list[0]?.rows?.[0]?.seq ?? 0;
  }

  /** The lowest number; none without rows. */
  get oldest(): number | null {
    return this.list.at(-1)?.last ?? null;
  }

  /** Begins anew. */
  reset(rows: Row[]): void {
    this.list = rows.length > 0 ? [page(null, rows)] : [];
  }

  /** Adds older rows at the end. */
  append(rows: Row[]): void {
    if (rows.length === 0) return;
    const before = this.oldest;
    this.list.push(page(before, rows));
  }

  /** Adds rows that are newer than all, newest first. */
  prepend(rows: Row[]): void {
    if (rows.length === 0) return;
    const head = this.list[0];
    if (!head?.rows || head.count + rows.length > 2 * PAGE) {
      if (head?.rows?.[0]) head.before = head.rows[0].seq + 1;
      this.list.unshift(page(null, rows));
      return;
    }
    head.rows.unshift(...rows);
    head.count = head.rows.length;
  }

  /** The rows from index `from` to before `to`; undefined where they were let go. */
  slice(from: number, to: number): (Row | undefined)[] {
    const found: (Row | undefined)[] = [];
    let start = 0;
    for (const { count, rows } of this.list) {
      const end = start + count;
      for (let at = Math.max(from, start); at < Math.min(to, end); at += 1) found.push(rows?.[at - start]);
      if (end >= to) break;
      start = end;
    }
    return found;
  }

  /** The index of an event's row, or -1. */
  indexOf(id: string): number {
    let start = 0;
    for (const { count, rows } of this.list) {
      const at = rows?.findIndex((row) => row.id === id) ?? -1;
      if (at >= 0) return start + at;
      start += count;
    }
    return -1;
  }

  /** Puts a row in the place of the one of the same event; false where there is none. */
  update(row: Row): boolean {
    const { page, at } = this.#find(row.seq);
    if (!page?.rows || page.rows[at]?.id !== row.id) return false;
    page.rows[at] = row;
    return true;
  }

  /** Puts a row where its number belongs, if that stretch is here. */
  insert(row: Row): boolean {
    const { page, at } = this.#find(row.seq);
    if (!page?.rows || page.rows[at]?.id === row.id) return false;
    page.rows.splice(at, 0, row);
    page.count += 1;
    return true;
  }

  /** Takes an event's row out. */
  remove(id: string, seq: number): boolean {
    const { page, at } = this.#find(seq);
    if (!page?.rows || page.rows[at]?.id !== id) return false;
    page.rows.splice(at, 1);
    page.count -= 1;
    if (page.count === 0) this.list = this.list.filter((one) => one !== page);
    return true;
  }

  /** Gives a page its rows again. */
  fill(page: Page, rows: Row[]): void {
    page.rows = rows.filter((row) => row.seq >= page.last && (page.before === null || row.seq < page.before));
    page.count = page.rows.length;
  }

  /** The pages that hold any index from `from` to before `to`. */
  within(from: number, to: number): Page[] {
    let start = 0;
    return this.list.filter(({ count }) => {
      const begins = start;
      start += count;
      return begins < to && start > from;
    });
  }

  /** Lets go of the rows that are far from those in sight. The first page stays: new rows come there. */
  letGo(from: number, to: number): void {
    const kept = this.list.filter((page) => page.rows);
    if (kept.length <= KEPT) return;
    const near = new Set(this.within(from - 3 * PAGE, to + 3 * PAGE));
    for (const page of kept) if (!near.has(page) && page !== this.list[0]) page.rows = null;
  }

  /** The page that a number belongs to, and its index there. */
  #find(seq: number): { page: Page | undefined; at: number } {
    const page = this.list.find((one) => seq >= one.last && (one.before === null || seq < one.before));
    const at = page?.rows?.findIndex((row) => row.seq <= seq) ?? -1;
    return { page, at: at < 0 ? (page?.rows?.length ?? 0) : at };
  }
}

function page(before: number | null, rows: Row[]): Page {
  return { before, last: rows.at(-1)?.seq ?? 0, count: rows.length, rows };
}
