import type { Pages } from './pages';
import type { Row } from './row';

/** The repeats of one first event, shown beneath it, oldest first. */
interface Group {
  first: string;
  rows: Row[];
}

/** A group, and the index of its first in the pages. */
interface Place extends Group {
  at: number;
}

/**
 * The list as it is shown: the rows of the pages, and beneath some of them their repeats. Its indexes count both, those of
 * the pages count only their own rows.
 */
export class Unfolded {
  #groups: Group[] = [];
  readonly #pages: Pages;

  constructor(pages: Pages) {
    this.#pages = pages;
  }

  /** The number of rows, with the repeats. */
  get length(): number {
    return this.#pages.length + sum(this.#places());
  }

  /** The ids of the events whose repeats are shown. */
  get firsts(): ReadonlySet<string> {
    return new Set(this.#groups.map(({ first }) => first));
  }

  /** Whether the repeats of an event are shown. */
  has(first: string | null): boolean {
    return this.#groups.some((group) => group.first === first);
  }

  /** Shows repeats beneath their first, but none that is a row of its own. */
  open(first: string, rows: Row[]): void {
    this.close(first);
    this.#groups.push({ first, rows: rows.filter(({ id }) => this.#pages.indexOf(id) < 0) });
  }

  /** Folds the repeats of an event away. */
  close(first: string): void {
    this.#groups = this.#groups.filter((group) => group.first !== first);
  }

  /** Folds all repeats away. */
  reset(): void {
    this.#groups = [];
  }

  /** Returns the rows from index `from` to before `to`; rows of the pages that were dropped are undefined. */
  slice(from: number, to: number): (Row | undefined)[] {
    if (this.#groups.length === 0) return this.#pages.slice(from, to);
    const places = this.#places();
    const found: (Row | undefined)[] = [];
    for (let index = from; index < Math.min(to, this.length); index += 1) {
      const { at, repeat } = locate(index, places);
      found.push(repeat ?? this.#pages.slice(at, at + 1)[0]);
    }
    return found;
  }

  /** Returns the index of an event's row, or -1. */
  indexOf(id: string): number {
    const at = this.#pages.indexOf(id);
    if (at >= 0) return this.shownAt(at);
    for (const place of this.#places()) {
      const below = place.rows.findIndex((row) => row.id === id);
      if (below >= 0) return this.shownAt(place.at) + 1 + below;
    }
    return -1;
  }

  /** Returns the index that a row of the pages has here. */
  shownAt(at: number): number {
    return at + sum(this.#places().filter((place) => place.at < at));
  }

  /** Returns the index in the pages of the row at an index; of a repeat, that of its first. */
  inPages(index: number): number {
    return locate(index, this.#places()).at;
  }

  /** Replaces the row of a repeat that is shown; returns false if there is none. */
  update(row: Row): boolean {
    const { rows, below } = this.#find(row.id);
    if (rows) rows[below] = row;
    return rows !== undefined;
  }

  /** Adds a repeat beneath its first; returns false if its place is not shown, or has it already. */
  insert(row: Row): boolean {
    const group = this.#groups.find(({ first }) => first === row.first);
    if (!group || group.rows.some(({ id }) => id === row.id)) return false;
    const below = group.rows.findIndex(({ seq }) => seq > row.seq);
    group.rows.splice(below < 0 ? group.rows.length : below, 0, row);
    return true;
  }

  /** Removes a repeat's row; returns false if it is not shown. */
  remove(id: string): boolean {
    const { rows, below } = this.#find(id);
    rows?.splice(below, 1);
    return rows !== undefined;
  }

  #find(id: string): { rows: Row[] | undefined; below: number } {
    for (const { rows } of this.#groups) {
      const below = rows.findIndex((row) => row.id === id);
      if (below >= 0) return { rows, below };
    }
    return { rows: undefined, below: -1 };
  }

  /** Returns the groups whose first is listed, in the order of the list. */
  #places(): Place[] {
    return this.#groups
      .map((group) => ({ ...group, at: this.#pages.indexOf(group.first) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at);
  }
}

function sum(places: readonly Place[]): number {
  return places.reduce((all, { rows }) => all + rows.length, 0);
}

/** Returns the index in the pages of what stands at an index, and the repeat if it is one. */
function locate(index: number, places: readonly Place[]): { at: number; repeat: Row | undefined } {
  let above = 0;
  for (const { at, rows } of places) {
    const below = index - above - at - 1;
    if (below < 0) break;
    if (below < rows.length) return { at, repeat: rows[below] };
    above += rows.length;
  }
  return { at: index - above, repeat: undefined };
}
