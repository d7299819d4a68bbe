import { Problem } from '../api/client';
import { copiesOf } from '../api/events';
import { count } from '../format/count';
import { type Row, rowOf } from './row';
import { toasts } from './toasts.svelte';
import type { Unfolded } from './unfolded';

/** The most repeats that are shown beneath their first. */
const MOST = 999;

/** Reads the repeats of events, and takes in those that come meanwhile. */
export class Repeats {
  /** The highest number of an event that is listed, folded away or held back. */
  seen = 0;
  readonly #shown: Unfolded;
  /** Repeats that came in while those of their first were read. */
  #meanwhile = new Map<string, Row[]>();

  constructor(shown: Unfolded) {
    this.#shown = shown;
  }

  /** Shows the repeats of an event, oldest first; if there are too many, it says so. Returns whether it did. */
  async read(first: string, signal: AbortSignal): Promise<boolean> {
    this.#meanwhile.set(first, []);
    try {
      const { items, total } = await copiesOf(first, MOST + 1, signal);
      if (signal.aborted) return false;
      const rows = items.map(rowOf).filter(({ folds }) => folds);
      this.#shown.open(first, rows);
      for (const row of this.#meanwhile.get(first) ?? []) this.#shown.insert(row);
      this.seen = Math.max(this.seen, ...rows.map(({ seq }) => seq));
      if (items.length < total)
        toasts.say(`The first ${count(items.length)} of ${count(total)} copies are shown`);
      return true;
    } catch (error) {
      if (!signal.aborted) toasts.fail(`The repeats could not be read: ${Problem.of(error).detail}`);
      return false;
    } finally {
      this.#meanwhile.delete(first);
    }
  }

  /** Takes in a repeat, beneath its first if that is unfolded. Returns whether it is to be shown like a new event. */
  isNew(row: Row, first: string): boolean {
    this.#meanwhile.get(first)?.push(row);
    if (!this.#shown.has(first)) return false;
    if (row.seq > this.seen) return true;
    this.#shown.insert(row);
    return false;
  }
}
