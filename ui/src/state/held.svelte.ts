import type { Row } from './row';

/** The most new events kept while they are held back; to show more, the list is read again. */
const MOST = 500;

/** New events that the list does not show yet, newest first. */
export class Held {
  rows: Row[] = [];
  /** How many new events are not shown yet. */
  count = $state(0);
  /** There are more new events than `count` says. */
  more = $state(false);

  /** The highest number; 0 if nothing is held back. */
  get newest(): number {
    return this.rows[0]?.seq ?? 0;
  }

  row(id: string | null): Row | undefined {
    return this.rows.find((row) => row.id === id);
  }

  /** Holds back rows that are newer than all others. */
  add(rows: Row[]): void {
    this.count += rows.length;
    if (this.rows.length + rows.length > MOST) this.more = true;
    else this.rows.unshift(...rows);
  }

  /** Notes that about this many events came in, too many to hold. */
  tooMany(count: number): void {
    this.count = Math.max(this.count, count);
    this.more = true;
  }

  /** Replaces the row of the same event; returns false if it is not held back. */
  update(row: Row): boolean {
    const at = this.rows.findIndex(({ id }) => id === row.id);
    if (at >= 0) this.rows[at] = row;
    return at >= 0;
  }

  remove(id: string): void {
    this.#keep((row) => row.id !== id);
  }

  /** Removes the repeats of an event. */
  removeRepeats(first: string): void {
    this.#keep((row) => row.first !== first);
  }

  clear(): void {
    this.rows = [];
    this.count = 0;
    this.more = false;
  }

  #keep(test: (row: Row) => boolean) {
    const before = this.rows.length;
    this.rows = this.rows.filter(test);
    this.count -= before - this.rows.length;
  }
}
