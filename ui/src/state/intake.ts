import type { Event } from '../api/shapes';
import type { Repeats } from './repeats';
import { type Row, rowOf } from './row';
import type { Rows } from './rows.svelte';
import { soon } from './soon';
import { notify } from './watchers';

/** What taking events in asks of the list. */
interface List {
  /** Whether it was read; until then, events wait. */
  isReady(): boolean;
  /** Inserts new rows, or holds them back. */
  add(rows: Row[]): void;
  readRepeats(first: string): void;
  /** Reads again, soon, what may have changed otherwise. */
  readAnew(): void;
  /** Asks, soon, what is new. */
  askNewer(): void;
}

/** Takes events that were stored or have changed into the list. Those that come close together go in together. */
export class Intake {
  readonly #rows: Rows;
  readonly #repeats: Repeats;
  readonly #list: List;
  /** Events by their ids; null for those that don't pass the filter. */
  #came = new Map<string, Event | null>();

  /** Takes in soon what came. */
  readonly flush = soon(() => this.#takeIn(), 50);

  constructor(rows: Rows, repeats: Repeats, list: List) {
    this.#rows = rows;
    this.#repeats = repeats;
    this.#list = list;
  }

  /** Takes an event, or null if it doesn't pass the filter any more. */
  take(id: string, event: Event | null): void {
    this.#came.set(id, event);
    this.flush();
  }

  /** Forgets what came for the list before. */
  clear(): void {
    this.#came.clear();
  }

  #takeIn() {
    if (!this.#list.isReady()) return; // they are inserted after the page that is being read
    const all = [...this.#came];
    this.#came.clear();
    for (const [id, event] of all) if (event === null) this.#leave(id);
    const came = all.flatMap(([, event]) => event ?? []).sort((a, b) => b.seq - a.seq);
    const known = this.#rows.newestKnown;
    const added: Row[] = [];
    for (const event of came) this.#place(event, known, added);
    this.#repeats.seen = Math.max(this.#repeats.seen, came[0]?.seq ?? 0);
    this.#list.add(added);
    this.#rows.changed();
  }

  /** Brings an event to its place; if it is newer than all that is known, to `added`. */
  #place(event: Event, known: number, added: Row[]) {
    notify(event);
    const { filter, pages } = this.#rows;
    const row = rowOf(event);
    // Only a search finds what is in the bin.
    if (event.deleted_at !== null && !filter.q) return this.#drop(row);
    if (this.#rows.change(row)) return;
    if (filter.fold && row.folds && row.first !== null) return this.#repeat(row, row.first, added);
    if (row.seq > known) added.push(row);
    else if (pages.insert(row) && filter.fold) pages.removeRepeats(row.id);
  }

  /** Takes out an event that does not pass the filter any more. A repeat stays beneath its first. */
  #leave(id: string) {
    notify({ id, duplicate_of: null });
    const { filter, shown, held } = this.#rows;
    const row = this.#rows.row(id) ?? held.row(id);
    if (!row) return;
    if (row.first !== null && shown.has(row.first)) return this.#list.readRepeats(row.first);
    this.#rows.takeOut(row);
    if (filter.fold && row.folded > 0) this.#list.readAnew();
  }

  /** Takes out a deleted event. The repeats of a first then stand for themselves. */
  #drop(row: Row) {
    this.#rows.takeOut(row);
    if (this.#rows.filter.fold && row.first === null && row.copies > 0) this.#list.readAnew();
  }

  /**
   * Takes in a repeat that is not listed. It stays folded away, or comes beneath its first if that is unfolded. If the
   * first isn't loaded, only the API can tell whether the list has it.
   */
  #repeat(row: Row, first: string, added: Row[]) {
    if (this.#repeats.isNew(row, first)) added.push(row);
    else if (this.#rows.pages.indexOf(first) < 0 && !this.#rows.held.row(first)) this.#list.askNewer();
  }
}
