import { Problem } from '../api/client';
import type { Event } from '../api/shapes';
import { type Filter, isSame } from './filter';
import { Filling } from './filling';
import { Intake } from './intake';
import { PAGE } from './pages';
import { Repeats } from './repeats';
import type { Row } from './row';
import { Rows } from './rows.svelte';
import { soon } from './soon';
import { sources } from './sources.svelte';
import { readDown, Tail } from './tail.svelte';

export { onEvent } from './watchers';

/** Where the list should scroll; the list does so and resets it. */
export type Wanted = { to: 'top' } | { to: 'row'; id: string };

type State = 'loading' | 'ready' | 'failed';

/** The list of events: reads its pages as they come into sight, and takes in new events from the live stream. */
class Events extends Rows {
  state = $state<State>('loading');
  problem = $state.raw<Problem | null>(null);
  /** Whether new events are inserted at once while the top of the list is visible. */
  live = $state(true);
  /** What is older than the last row, and how far a long search has come. */
  readonly tail = new Tail();
  wanted = $state.raw<Wanted | null>(null);
  /** Whether the top of the list is visible. The list sets it. */
  atTop = true;
  /** The index of the first row that is wholly visible. */
  firstInSight = 0;

  /** What was read ahead, and is not shown yet. */
  #ahead: Filter | null = null;
  /** Changes may have been missed while the list was read. */
  #stale = false;
  /** Whether pages were added that nobody read yet. */
  #isForeseen = false;
  #reading = new AbortController();
  #filling = new Filling(
    this.pages,
    () => ({ filter: this.filter, signal: this.#reading.signal }),
    () => this.changed(),
  );
  #repeats = new Repeats(this.shown);
  #readAnew = soon(() => this.refresh(), 200);
  #askNewer = soon(() => void this.catchUp(), 1_000);
  #intake = new Intake(this, this.#repeats, {
    isReady: () => this.state === 'ready',
    add: (rows) => this.#add(rows),
    readRepeats: (first) => void this.#readRepeats(first),
    readAnew: () => this.#readAnew(),
    askNewer: () => this.#askNewer(),
  });

  /** The list was read to its end. */
  get complete(): boolean {
    return this.tail.complete;
  }

  /** Reads a list before it is shown, while the page is being drawn. */
  async ahead(filter: Filter): Promise<void> {
    const shown = this.show(filter);
    this.#ahead = filter;
    await shown;
  }

  /** Lists the events that pass a filter. */
  async show(filter: Filter): Promise<void> {
    const isRead = this.#ahead !== null && isSame(this.#ahead, filter);
    this.#ahead = null;
    if (isRead) return;
    this.filter = filter;
    this.#intake.clear();
    await this.read();
  }

  /** Reads the list from its top. */
  async read(): Promise<void> {
    this.#reading.abort();
    this.#reading = new AbortController();
    this.tail.reset();
    this.state = 'loading';
    this.problem = null;
    await this.readOn();
  }

  /** Reads on towards older events, also after the search was stopped. */
  async readOn(): Promise<void> {
    const { signal } = this.#reading;
    try {
      await this.tail.read(this.filter, (rows) => this.#take(rows));
    } catch (error) {
      if (signal.aborted) return;
      this.problem = Problem.of(error);
      if (this.state === 'loading') this.state = 'failed';
    }
  }

  /** Ends a search that takes long; what it found stays. */
  stop(): void {
    this.tail.stop();
    if (this.state === 'loading') this.#begin([]);
  }

  /** Reads the next page of older events, unless the search was stopped. */
  older(): void {
    if (this.state === 'ready' && this.pages.oldest !== null && !this.tail.stopped) void this.readOn();
  }

  /** Takes note of the visible rows: reads missing pages near them again, and drops the rows of pages far away. */
  inSight(fromRow: number, toRow: number): void {
    const [from, to] = [this.shown.inPages(fromRow), this.shown.inPages(toRow)];
    const inSight = this.pages.within(from, to);
    const near = this.pages.within(from - PAGE / 2, to + PAGE / 2);
    this.#filling.want([...new Set([...inSight, ...near])].filter(({ rows }) => !rows));
    this.pages.letGo(from, to, this.shown.firsts);
    if (to > this.pages.length - PAGE / 2) this.older();
  }

  /**
   * Makes the list about as long as it will be, so that the scroll bar leads to its end: what comes into sight is then
   * read. `count` is the number of events with their repeats; `most`, how many rows can be drawn.
   */
  foresee(count: number, most: number): void {
    if (this.state !== 'ready' || this.tail.reading || this.tail.complete || this.#isForeseen) return;
    const rows = this.pages.slice(0, this.pages.length).filter((row) => row !== undefined);
    const folded = this.filter.fold ? rows.reduce((sum, row) => sum + row.folded, 0) : 0;
    const expected = Math.round((count * rows.length) / (rows.length + folded));
    this.tail.skipTo(this.pages.foresee(expected, most));
    this.#isForeseen = true;
    this.changed();
  }

  /** Takes an event that was stored or has changed. */
  apply(event: Event): void {
    this.#intake.take(event.id, event);
  }

  /** Takes out an event that has changed and does not pass the filter. */
  unmatched(id: string): void {
    this.#intake.take(id, null);
  }

  /** Shows the repeats of a listed event beneath it. */
  async unfold(id: string): Promise<void> {
    const row = this.row(id);
    if (row && this.foldable(row) && !this.shown.has(id)) await this.#readRepeats(id);
  }

  /** Shows a repeat if it is folded away: unfolds its first, and scrolls to it. */
  async uncover(id: string, first: string): Promise<void> {
    if (this.indexOf(id) >= 0) return;
    await this.unfold(first);
    this.reveal(id);
  }

  /** Shows the new events, and scrolls to the top of the list. */
  newest(): void {
    if (this.newMore) void this.read();
    else this.putIn(this.held.rows);
    this.held.clear();
    this.live = true;
    this.wanted = { to: 'top' };
  }

  /** Scrolls to an event's row if it is listed. */
  reveal(id: string): void {
    this.wanted = { to: 'row', id };
  }

  /** Switches between showing new events at once and holding them back. */
  toggleLive(): void {
    this.live = !this.live;
    this.scrolled(this.atTop);
  }

  /** Called by the list when its top becomes visible or hidden; new events show once the top is visible again. */
  scrolled(atTop: boolean): void {
    this.atTop = atTop;
    if (atTop && this.live && this.newCount > 0) this.newest();
  }

  /**
   * Reads what is newer than the list, and the newest rows again: after the connection was lost, or if only the API can
   * tell whether a repeat is listed.
   */
  async catchUp(): Promise<void> {
    if (this.state === 'failed') return this.read();
    if (this.state !== 'ready') return;
    const { signal } = this.#reading;
    const known = this.newestKnown;
    const rows = await readDown(this.filter, { from: null, to: known || Infinity, most: PAGE, signal });
    if (!rows) return; // the next loss or event tries again
    // Events that the live stream brought meanwhile are already in the list.
    const missed = rows.filter((row) => !this.change(row));
    const fresh = missed.filter(({ seq }) => seq > known);
    if (fresh.length >= PAGE && known > 0) this.#tooMany(fresh.length);
    else {
      const newest = this.newestKnown;
      for (const row of missed) if (row.seq < newest) this.pages.insert(row);
      this.#add(fresh.filter(({ seq }) => seq > newest));
    }
    this.changed();
  }

  /** Reads all loaded rows again, because changes may have been missed. */
  refresh(): void {
    this.#stale = this.state === 'loading';
    if (this.#stale) return; // once it is read
    for (const page of this.pages.list.slice(1)) if (page.rows) void this.#filling.read(page);
    for (const first of this.shown.firsts) void this.#readRepeats(first);
    void this.catchUp();
  }

  #take(rows: Row[]) {
    if (this.state === 'loading') return this.#begin(rows);
    this.pages.append(rows);
    this.changed();
  }

  #begin(rows: Row[]) {
    this.pages.reset(rows);
    this.#isForeseen = false;
    this.shown.reset();
    this.#repeats.seen = this.pages.newest;
    for (const row of rows.toReversed()) sources.saw(row.source, row.provider);
    this.inserted = 0;
    this.held.clear();
    this.state = 'ready';
    this.problem = null;
    this.changed();
    this.#intake.flush();
    if (this.#stale) this.#readAnew();
    this.#stale = false;
  }

  async #readRepeats(first: string) {
    if (await this.#repeats.read(first, this.#reading.signal)) this.changed();
  }

  /** Inserts new rows, or holds them back. */
  #add(rows: Row[]) {
    if (rows.length === 0) return;
    if (this.live && this.atTop && this.newCount === 0) return this.putIn(rows);
    this.held.add(rows);
  }

  #tooMany(count: number) {
    if (this.live && this.atTop) return void this.read();
    this.held.tooMany(count);
  }
}

export const events = new Events();
