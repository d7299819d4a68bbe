import type { Filter } from './filter';
import { type Page, PAGE, type Pages } from './pages';
import { readDown } from './tail.svelte';

/** How many pages are read at a time: those in sight come first, wherever the list was scrolled meanwhile. */
const AT_ONCE = 2;

/** The most rows that are read for one page; what is left becomes a page of its own. */
const MOST = 2 * PAGE;

/** Reads the rows of pages that come into sight without them. */
export class Filling {
  #wanted: Page[] = [];
  #reading = new Set<Page>();
  readonly #pages: Pages;
  readonly #asks: () => { filter: Filter; signal: AbortSignal };
  readonly #filled: () => void;

  /** `asks` says what the list is filtered by; `filled` is called after each page. */
  constructor(pages: Pages, asks: () => { filter: Filter; signal: AbortSignal }, filled: () => void) {
    this.#pages = pages;
    this.#asks = asks;
    this.#filled = filled;
  }

  /** Reads these pages, the first ones first, and forgets those that were wanted before and didn't begin. */
  want(pages: Page[]): void {
    this.#wanted = pages;
    for (const page of pages) {
      if (this.#reading.size >= AT_ONCE) return;
      if (!page.rows && !this.#reading.has(page)) void this.#begin(page);
    }
  }

  /** Reads a page, again if it has rows. */
  async read(page: Page): Promise<void> {
    const { filter, signal } = this.#asks();
    const rows = await readDown(filter, { from: page.before, to: page.last, most: MOST, signal });
    if (!rows) return;
    const whole = rows.length < MOST || (rows.at(-1)?.seq ?? 0) <= page.last;
    if (rows.length === 0 && !filter.q) this.#pages.endAbove(page);
    else this.#pages.fill(page, rows, whole);
    this.#filled();
  }

  async #begin(page: Page) {
    this.#reading.add(page);
    await this.read(page);
    this.#reading.delete(page);
    if (page.rows || !this.#pages.list.includes(page)) this.want(this.#wanted); // else it could not be read
  }
}
