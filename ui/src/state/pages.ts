import type { Row } from './row';

/** How many rows a request asks for. */
export const PAGE = 200;

/** How many rows the first request of a list asks for: enough for a window, and soon there. */
export const FIRST = 80;

/** How many pages keep their rows: those nearest to the visible ones. */
const KEPT = 40;

/** A consecutive part of the list. Its rows can be dropped and read again. */
export interface Page {
  /** Its rows have lower numbers than this; null means no upper limit. */
  before: number | null;
  /** The lowest number in the page. */
  last: number;
  count: number;
  /** How many rows it counts as while it has none, so that the list isn't too tall to be drawn. */
  claim?: number;
  /** Null if the rows were dropped, or nobody read them yet: then `count` is how many there may be. */
  rows: Row[] | null;
}

/** The list of all events, newest first. Only the pages near the visible rows keep their rows. */
export class Pages {
  list: Page[] = [];

  /** The number of rows, including dropped ones. */
  get length(): number {
    return this.list.reduce((sum, page) => sum + page.count, 0);
  }

  /** The highest number, or one above it if its row was dropped; 0 if there are no rows. */
  get newest(): number {
    const head = this.list[0];
    return head?.rows?.[0]?.seq ?? head?.before ?? 0;
  }

  /** The lowest number; null if there are no rows. */
  get oldest(): number | null {
    return this.list.at(-1)?.last ?? null;
  }

  /** Starts again with these rows. */
  reset(rows: Row[]): void {
    this.list = rows.length > 0 ? [page(null, rows)] : [];
  }

  /** Adds older rows at the end. */
  append(rows: Row[]): void {
    if (rows.length === 0) return;
    const before = this.oldest;
    this.list.push(page(before, rows));
  }

  /** Adds rows that are newer than all others, newest first. */
  prepend(rows: Row[]): void {
    if (rows.length === 0) return;
    const head = this.list[0];
    if (!head?.rows || head.count + rows.length > 2 * PAGE) {
      if (head?.rows?.[0]) head.before = head.rows[0].seq + 1;
      this.list.unshift(page(null, rows));
      return;
    }
    head.before = null;
    head.rows.unshift(...rows);
    head.count = head.rows.length;
  }

  /** Returns the rows from index `from` to before `to`; dropped rows are undefined. */
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

  /** Returns the index of an event's row, or -1. */
  indexOf(id: string): number {
    let start = 0;
    for (const { count, rows } of this.list) {
      const at = rows?.findIndex((row) => row.id === id) ?? -1;
      if (at >= 0) return start + at;
      start += count;
    }
    return -1;
  }

  /** Replaces the row of the same event; returns false if there is none. */
  update(row: Row): boolean {
    const { page, at } = this.#find(row.seq);
    if (!page?.rows || page.rows[at]?.id !== row.id) return false;
    page.rows[at] = row;
    return true;
  }

  /** Inserts a row where its number belongs; returns false if that page is not loaded or has the row already. */
  insert(row: Row): boolean {
    const { page, at } = this.#find(row.seq);
    if (!page?.rows || page.rows[at]?.id === row.id) return false;
    page.rows.splice(at, 0, row);
    page.count += 1;
    return true;
  }

  /** Removes an event's row; returns false if it is not loaded. */
  remove(id: string, seq: number): boolean {
    const { page, at } = this.#find(seq);
    if (!page?.rows || page.rows[at]?.id !== id) return false;
    page.rows.splice(at, 1);
    page.count -= 1;
    if (page.count === 0) this.list = this.list.filter((one) => one !== page);
    return true;
  }

  /**
   * Adds pages that nobody read yet, so that the list is about as long as it will be: `count` rows, spread as those that
   * were read. If that is more than the `most` that can be drawn, pages count less until they are read. Returns the
   * number below which nothing is foreseen.
   */
  foresee(count: number, most = Infinity): number {
    const begin = this.oldest ?? 0;
    const width = Math.max(PAGE, Math.round((PAGE * (this.newest - begin + 1)) / Math.max(1, this.length)));
    const claim = Math.max(1, Math.floor(PAGE * Math.min(1, most / count)));
    let before = begin;
    for (let left = count - this.length; left > 0 && before > 1; left -= PAGE) {
      const last = Math.max(1, before - width);
      this.list.push({ before, last, count: Math.min(left, claim), claim, rows: null });
      before = last;
    }
    return before;
  }

  /** Gives a page its rows. If there were more than could be read, what is left becomes a page of its own. */
  fill(page: Page, rows: Row[], whole: boolean): void {
    const end = rows.at(-1)?.seq ?? page.last;
    if (!whole && end > page.last) {
      const rest: Page = { ...page, before: end, count: page.claim ?? PAGE, rows: null };
      this.list.splice(this.list.indexOf(page) + 1, 0, rest);
      page.last = end;
    }
    page.rows = rows.filter((row) => row.seq >= page.last && (page.before === null || row.seq < page.before));
    page.count = page.rows.length;
  }

  /** Ends the list above a page: there is nothing in it, and nothing below. */
  endAbove(page: Page): void {
    const at = this.list.indexOf(page);
    if (at > 0) this.list.length = at;
  }

  /** Returns the pages that contain any index from `from` to before `to`. */
  within(from: number, to: number): Page[] {
    let start = 0;
    return this.list.filter(({ count }) => {
      const begins = start;
      start += count;
      return begins < to && start > from;
    });
  }

  /**
   * Drops the rows of the pages that are farthest from the visible rows, so that memory is bounded. The first page
   * stays, because new rows go there, and so do pages with an event in `needed`.
   */
  letGo(from: number, to: number, needed: ReadonlySet<string> = new Set()): void {
    const many = this.list.filter((page) => page.rows).length - KEPT;
    if (many <= 0) return;
    const stays = ({ rows }: Page) => !rows || (needed.size > 0 && rows.some(({ id }) => needed.has(id)));
    let start = 0;
    const far = this.list.map((page) => {
      start += page.count;
      return { page, by: Math.max(start - page.count - to, from - start) };
    });
    const leave = far.slice(1).filter(({ page }) => !stays(page));
    for (const { page } of leave.sort((a, b) => b.by - a.by).slice(0, many)) empty(page);
  }

  /** Removes all loaded repeats of an event that fold. */
  removeRepeats(first: string): void {
    const stays = (row: Row) => row.first !== first || !row.folds;
    for (const page of this.list) {
      if (!page.rows || page.rows.every(stays)) continue;
      page.rows = page.rows.filter(stays);
      page.count = page.rows.length;
    }
    this.list = this.list.filter(({ count }) => count > 0);
  }

  /** Returns the page to which a number belongs, and its index there. */
  #find(seq: number): { page: Page | undefined; at: number } {
    const page = this.list.find((one) => seq >= one.last && (one.before === null || seq < one.before));
    const at = page?.rows?.findIndex((row) => row.seq <= seq) ?? -1;
    return { page, at: at < 0 ? (page?.rows?.length ?? 0) : at };
  }
}

/** Drops a page's rows. */
function empty(page: Page) {
  page.rows = null;
  page.count = Math.min(page.count, page.claim ?? Infinity);
}

function page(before: number | null, rows: Row[]): Page {
  return { before, last: rows.at(-1)?.seq ?? 0, count: rows.length, rows };
}
