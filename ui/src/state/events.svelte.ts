import { Problem } from '../api/client';
import type { Event, Gap } from '../api/shapes';
import { type Filter, isSame } from './filter';
import { type PlacedGap, placeGaps } from './gap-places';
import { Filling } from './filling';
import { Held } from './held.svelte';
import { PAGE, Pages } from './pages';
import { Repeats } from './repeats';
import { type Row, rowOf } from './row';
import { soon } from './soon';
import { sources } from './sources.svelte';
import { readDown, Tail } from './tail.svelte';
import { Unfolded } from './unfolded';
import { notify } from './watchers';

export { onEvent } from './watchers';

/** Where the list should scroll; the list does so and resets it. */
export type Wanted = { to: 'top' } | { to: 'row'; id: string };

type State = 'loading' | 'ready' | 'failed';

/** The list of events: pages that were read, and new events from the live stream. */
class Events {
  filter = $state.raw<Filter>({});
  state = $state<State>('loading');
  problem = $state.raw<Problem | null>(null);
  /** Whether new events are inserted at once while the top of the list is visible. */
  live = $state(true);
  /** What is older than the last row, and how far a long search has come. */
  readonly tail = new Tail();
  wanted = $state.raw<Wanted | null>(null);
  /** How many rows came in at the top since the list was read. With it, rows keep their place on the screen. */
  inserted = $state(0);
  /** Whether the top of the list is visible. The list sets it. */
  atTop = true;
  /** The index of the first row that is wholly visible. */
  firstInSight = 0;

  /** What was read ahead, and is not shown yet. */
  #ahead: Filter | null = null;
  /** Changes may have been missed while the list was read. */
  #stale = false;
  #pages = new Pages();
  /** Whether pages were added that nobody read yet. */
  #isForeseen = false;
  #filling = new Filling(
    this.#pages,
    () => ({ filter: this.filter, signal: this.#reading.signal }),
    () => (this.#version += 1),
  );
  #shown = new Unfolded(this.#pages);
  #repeats = new Repeats(this.#shown);
  #version = $state(0);
  #held = new Held();
  /** Events that were stored or have changed, by their ids; null for those that don't pass the filter. */
  #came = new Map<string, Event | null>();
  #reading = new AbortController();
  #flush = soon(() => this.#takeIn(), 50);
  #readAnew = soon(() => this.refresh(), 200);
  #askNewer = soon(() => void this.catchUp(), 1_000);

  /** The list was read to its end. */
  get complete(): boolean {
    return this.tail.complete;
  }

  /** How many new events are not shown yet. */
  get newCount(): number {
    return this.#held.count;
  }

  /** Whether there are more new events than `newCount` says. */
  get newMore(): boolean {
    return this.#held.more;
  }

  /** The number of rows. */
  get length(): number {
    void this.#version;
    return this.#shown.length;
  }

  /** The number of events that were found; repeats beneath their first don't count. */
  get found(): number {
    void this.#version;
    return this.#pages.length;
  }

  /** Returns the rows from index `from` to before `to`; a row is undefined while it is being read again. */
  slice(from: number, to: number): (Row | undefined)[] {
    void this.#version;
    return this.#shown.slice(from, to);
  }

  /** Returns the index of an event's row, or -1. */
  indexOf(id: string | null): number {
    void this.#version;
    return id === null ? -1 : this.#shown.indexOf(id);
  }

  /** Returns an event's row if it is listed and loaded. */
  row(id: string): Row | undefined {
    const at = this.indexOf(id);
    return at < 0 ? undefined : this.#shown.slice(at, at + 1)[0];
  }

  /** Whether a row's repeats are shown beneath it or can be. */
  foldable(row: Row): boolean {
    return this.filter.fold === true && row.first === null && row.folded > 0;
  }

  /** Whether an event's repeats are shown beneath it. */
  isOpen(id: string | null): boolean {
    void this.#version;
    return this.#shown.has(id);
  }

  /** Returns the places of gaps among the rows. */
  placesOf(gaps: readonly Gap[]): PlacedGap[] {
    void this.#version;
    const placed = placeGaps(gaps, this.#pages.list, this.newCount > 0);
    return placed.map((line) => ({ ...line, at: this.#shown.shownAt(line.at) }));
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
    this.#came.clear();
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
    if (this.state === 'ready' && this.#pages.oldest !== null && !this.tail.stopped) void this.readOn();
  }

  /** Takes note of the visible rows: reads missing pages near them again, and drops the rows of pages far away. */
  inSight(fromRow: number, toRow: number): void {
    const [from, to] = [this.#shown.inPages(fromRow), this.#shown.inPages(toRow)];
    const inSight = this.#pages.within(from, to);
    const near = this.#pages.within(from - PAGE / 2, to + PAGE / 2);
    this.#filling.want([...new Set([...inSight, ...near])].filter(({ rows }) => !rows));
    this.#pages.letGo(from, to, this.#shown.firsts);
    if (to > this.#pages.length - PAGE / 2) this.older();
  }

  /**
   * Makes the list about as long as it will be, so that the scroll bar leads to its end: what comes into sight is then
   * read. `count` is the number of events with their repeats; `most`, how many rows can be drawn.
   */
  foresee(count: number, most: number): void {
    if (this.state !== 'ready' || this.tail.reading || this.tail.complete || this.#isForeseen) return;
    const rows = this.#pages.slice(0, this.#pages.length).filter((row) => row !== undefined);
    const folded = this.filter.fold ? rows.reduce((sum, row) => sum + row.folded, 0) : 0;
    const expected = Math.round((count * rows.length) / (rows.length + folded));
    this.tail.skipTo(this.#pages.foresee(expected, most));
    this.#isForeseen = true;
    this.#version += 1;
  }

  /** Takes an event that was stored or has changed. Events that come close together are inserted together. */
  apply(event: Event): void {
    this.#came.set(event.id, event);
    this.#flush();
  }

  /** Takes out an event that has changed and does not pass the filter. */
  unmatched(id: string): void {
    this.#came.set(id, null);
    this.#flush();
  }

  /** Removes an event's row at once; returns the row, so that it can be put back. */
  remove(id: string): Row | undefined {
    const row = this.row(id);
    if (row) this.#takeOut(row);
    this.#version += 1;
    return row;
  }

  /** Puts back a row that was removed. */
  putBack(row: Row): void {
    if (this.#shown.insert(row) || this.#pages.insert(row)) this.#version += 1;
  }

  /** Shows the repeats of a listed event beneath it. */
  async unfold(id: string): Promise<void> {
    const row = this.row(id);
    if (row && this.foldable(row) && !this.#shown.has(id)) await this.#readRepeats(id);
  }

  /** Folds the repeats of an event away. */
  fold(id: string): void {
    this.#shown.close(id);
    this.#held.removeRepeats(id);
    this.#version += 1;
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
    else this.#putIn(this.#held.rows);
    this.#held.clear();
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
    const known = this.#newestKnown();
    const rows = await readDown(this.filter, { from: null, to: known || Infinity, most: PAGE, signal });
    if (!rows) return; // the next loss or event tries again
    // Events that the live stream brought meanwhile are already in the list.
    const missed = rows.filter((row) => !this.#change(row));
    const fresh = missed.filter(({ seq }) => seq > known);
    if (fresh.length >= PAGE && known > 0) this.#tooMany(fresh.length);
    else {
      const newest = this.#newestKnown();
      for (const row of missed) if (row.seq < newest) this.#pages.insert(row);
      this.#add(fresh.filter(({ seq }) => seq > newest));
    }
    this.#version += 1;
  }

  /** Reads all loaded rows again, because changes may have been missed. */
  refresh(): void {
    this.#stale = this.state === 'loading';
    if (this.#stale) return; // once it is read
    for (const page of this.#pages.list.slice(1)) if (page.rows) void this.#filling.read(page);
    for (const first of this.#shown.firsts) void this.#readRepeats(first);
    void this.catchUp();
  }

  #take(rows: Row[]) {
    if (this.state === 'loading') return this.#begin(rows);
    this.#pages.append(rows);
    this.#version += 1;
  }

  #begin(rows: Row[]) {
    this.#pages.reset(rows);
    this.#isForeseen = false;
    this.#shown.reset();
    this.#repeats.seen = this.#pages.newest;
    for (const row of rows.toReversed()) sources.saw(row.source, row.provider);
    this.inserted = 0;
    this.#held.clear();
    this.state = 'ready';
    this.problem = null;
    this.#version += 1;
    this.#flush();
    if (this.#stale) this.#readAnew();
    this.#stale = false;
  }

  async #readRepeats(first: string) {
    if (await this.#repeats.read(first, this.#reading.signal)) this.#version += 1;
  }

  #takeIn() {
    if (this.state !== 'ready') return; // they are inserted after the page that is being read
    const all = [...this.#came];
    this.#came.clear();
    for (const [id, event] of all) if (event === null) this.#leave(id);
    const came = all.flatMap(([, event]) => event ?? []).sort((a, b) => b.seq - a.seq);
    const known = this.#newestKnown();
    const added: Row[] = [];
    for (const event of came) {
      notify(event);
      const row = rowOf(event);
      // Only a search finds what is in the bin.
      if (event.deleted_at !== null && !this.filter.q) this.#drop(row);
      else if (this.#change(row)) continue;
      else if (this.filter.fold && row.folds && row.first !== null) this.#repeat(row, row.first, added);
      else if (row.seq > known) added.push(row);
      else if (this.#pages.insert(row) && this.filter.fold) this.#pages.removeRepeats(row.id);
    }
    this.#repeats.seen = Math.max(this.#repeats.seen, came[0]?.seq ?? 0);
    this.#add(added);
    this.#version += 1;
  }

  /** Replaces an event's row. If the event belongs elsewhere by now, takes the row out, and returns false. */
  #change(row: Row): boolean {
    const kept = this.row(row.id) ?? this.#held.row(row.id);
    if (kept && this.filter.fold && (kept.folds !== row.folds || kept.first !== row.first)) {
      this.#takeOut(kept);
      return false;
    }
    return this.#held.update(row) || this.#shown.update(row) || this.#pages.update(row);
  }

  #takeOut(row: Row) {
    this.#pages.remove(row.id, row.seq);
    this.#shown.close(row.id);
    this.#shown.remove(row.id);
    this.#held.remove(row.id);
    this.#held.removeRepeats(row.id);
  }

  /** Takes out an event that does not pass the filter any more. A repeat stays beneath its first. */
  #leave(id: string) {
    notify({ id, duplicate_of: null });
    const row = this.row(id) ?? this.#held.row(id);
    if (!row) return;
    if (row.first !== null && this.#shown.has(row.first)) return void this.#readRepeats(row.first);
    this.#takeOut(row);
    if (this.filter.fold && row.folded > 0) this.#readAnew();
  }

  /** Takes out a deleted event. The repeats of a first then stand for themselves. */
  #drop(row: Row) {
    this.#takeOut(row);
    if (this.filter.fold && row.first === null && row.copies > 0) this.#readAnew();
  }

  /**
   * Takes in a repeat that is not listed. It stays folded away, or comes beneath its first if that is unfolded. If the
   * first isn't loaded, only the API can tell whether the list has it.
   */
  #repeat(row: Row, first: string, added: Row[]) {
    if (this.#repeats.isNew(row, first)) added.push(row);
    else if (this.#pages.indexOf(first) < 0 && !this.#held.row(first)) this.#askNewer();
  }

  /** Inserts new rows, or holds them back. */
  #add(rows: Row[]) {
    if (rows.length === 0) return;
    if (this.live && this.atTop && this.newCount === 0) return this.#putIn(rows);
    this.#held.add(rows);
  }

  #tooMany(count: number) {
    if (this.live && this.atTop) return void this.read();
    this.#held.tooMany(count);
  }

  #putIn(rows: Row[]) {
    const top = rows.filter((row) => !this.#shown.has(row.first));
    for (const row of rows) this.#shown.insert(row);
    this.#pages.prepend(top);
    this.inserted += top.length;
    this.#version += 1;
  }

  #newestKnown(): number {
    return Math.max(this.#pages.newest, this.#held.newest);
  }
}

export const events = new Events();
