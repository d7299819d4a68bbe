import type { Gap } from '../api/shapes';
import type { Filter } from './filter';
import { type PlacedGap, placeGaps } from './gap-places';
import { Held } from './held.svelte';
import { Pages } from './pages';
import type { Row } from './row';
import { Unfolded } from './unfolded';

/** The rows of the list as they are shown: those of its pages, repeats beneath their first, and new ones held back. */
export class Rows {
  filter = $state.raw<Filter>({});
  /** How many rows came in at the top since the list was read. With it, rows keep their place on the screen. */
  inserted = $state(0);
  readonly pages = new Pages();
  readonly shown = new Unfolded(this.pages);
  readonly held = new Held();
  #version = $state(0);

  /** Has what depends on the rows look at them again. */
  changed(): void {
    this.#version += 1;
  }

  /** How many new events are not shown yet. */
  get newCount(): number {
    return this.held.count;
  }

  /** Whether there are more new events than `newCount` says. */
  get newMore(): boolean {
    return this.held.more;
  }

  /** The number of rows. */
  get length(): number {
    void this.#version;
    return this.shown.length;
  }

  /** The number of events that were found; repeats beneath their first don't count. */
  get found(): number {
    void this.#version;
    return this.pages.length;
  }

  /** The highest number of an event that is listed or held back. */
  get newestKnown(): number {
    return Math.max(this.pages.newest, this.held.newest);
  }

  /** Returns the rows from index `from` to before `to`; a row is undefined while it is being read. */
  slice(from: number, to: number): (Row | undefined)[] {
    void this.#version;
    return this.shown.slice(from, to);
  }

  /** Returns the index of an event's row, or -1. */
  indexOf(id: string | null): number {
    void this.#version;
    return id === null ? -1 : this.shown.indexOf(id);
  }

  /** Returns an event's row if it is listed and loaded. */
  row(id: string): Row | undefined {
    const at = this.indexOf(id);
    return at < 0 ? undefined : this.shown.slice(at, at + 1)[0];
  }

  /** Whether a row's repeats are shown beneath it or can be. */
  foldable(row: Row): boolean {
    return this.filter.fold === true && row.first === null && row.folded > 0;
  }

  /** Whether an event's repeats are shown beneath it. */
  isOpen(id: string | null): boolean {
    void this.#version;
    return this.shown.has(id);
  }

  /** Folds the repeats of an event away. */
  fold(id: string): void {
    this.shown.close(id);
    this.held.removeRepeats(id);
    this.changed();
  }

  /** Returns the places of gaps among the rows. */
  placesOf(gaps: readonly Gap[]): PlacedGap[] {
    void this.#version;
    const placed = placeGaps(gaps, this.pages.list, this.newCount > 0);
    return placed.map((line) => ({ ...line, at: this.shown.shownAt(line.at) }));
  }

  /** Removes an event's row at once; returns the row, so that it can be put back. */
  remove(id: string): Row | undefined {
    const row = this.row(id);
    if (row) this.takeOut(row);
    this.changed();
    return row;
  }

  /** Puts back a row that was removed. */
  putBack(row: Row): void {
    if (this.shown.insert(row) || this.pages.insert(row)) this.changed();
  }

  /** Replaces an event's row. If the event belongs elsewhere by now, takes the row out, and returns false. */
  change(row: Row): boolean {
    const kept = this.row(row.id) ?? this.held.row(row.id);
    if (kept && this.filter.fold && (kept.folds !== row.folds || kept.first !== row.first)) {
      this.takeOut(kept);
      return false;
    }
    return this.held.update(row) || this.shown.update(row) || this.pages.update(row);
  }

  /** Takes a row out, wherever it is, with the repeats beneath it. */
  takeOut(row: Row): void {
    this.pages.remove(row.id, row.seq);
    this.shown.close(row.id);
    this.shown.remove(row.id);
    this.held.remove(row.id);
    this.held.removeRepeats(row.id);
  }

  /** Inserts rows that are newer than all others. */
  putIn(rows: Row[]): void {
    const top = rows.filter((row) => !this.shown.has(row.first));
    for (const row of rows) this.shown.insert(row);
    this.pages.prepend(top);
    this.inserted += top.length;
    this.changed();
  }
}
