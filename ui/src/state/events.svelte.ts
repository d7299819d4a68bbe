import { Problem } from '../api/client';
import { listEvents } from '../api/events';
import type { Event, Gap } from '../api/shapes';
import { type Filter, matches } from './filter';
import { type PlacedGap, placeGaps } from './gap-places';
import { PAGE, Pages } from './pages';
import { type Row, rowOf } from './row';
import { soon } from './soon';
import { sources } from './sources.svelte';
import { notify } from './watchers';

export { onEvent } from './watchers';

/** The most new events kept while they are held back; to show more, the list is read again. */
const HELD = 500;

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
  /** How many new events are not shown yet. */
  newCount = $state(0);
  /** There are more new events than `newCount` says. */
  newMore = $state(false);
  /** The list was read to its end. */
  complete = $state(false);
  wanted = $state.raw<Wanted | null>(null);
  /** How many rows came in at the top since the list was read. With it, rows keep their place on the screen. */
  inserted = $state(0);
  /** Whether the top of the list is visible. The list sets it. */
  atTop = true;
  /** The index of the first row that is wholly visible. */
  firstInSight = 0;

  #pages = new Pages();
  #version = $state(0);
  #held: Row[] = [];
  #came = new Map<string, Event>();
  #reading = new AbortController();
  #readingOlder = false;
  #flush = soon(() => this.#takeIn(), 50);
  #askNewer = soon(() => void this.catchUp(), 1_000);

  /** The number of rows. */
  get length(): number {
    void this.#version;
    return this.#pages.length;
  }

  /** Returns the rows from index `from` to before `to`; a row is undefined while it is being read again. */
  slice(from: number, to: number): (Row | undefined)[] {
    void this.#version;
    return this.#pages.slice(from, to);
  }

  /** Returns the index of an event's row, or -1. */
  indexOf(id: string | null): number {
    void this.#version;
    return id === null ? -1 : this.#pages.indexOf(id);
  }

  /** Returns an event's row if it is listed and loaded. */
  row(id: string): Row | undefined {
    const at = this.indexOf(id);
    return at < 0 ? undefined : this.#pages.slice(at, at + 1)[0];
  }

  /** Returns the places of gaps among the rows. */
  placesOf(gaps: readonly Gap[]): PlacedGap[] {
    void this.#version;
    return placeGaps(gaps, this.#pages.list, this.newCount > 0);
  }

  /** Lists the events that pass a filter. */
  show(filter: Filter): void {
    this.filter = filter;
    void this.read();
  }

  /** Reads the list from its top. */
  async read(): Promise<void> {
    this.#reading.abort();
    const { signal } = (this.#reading = new AbortController());
    this.state = 'loading';
    this.problem = null;
    this.#readingOlder = false;
    try {
      const page = await listEvents(this.filter, { limit: PAGE, signal });
      if (signal.aborted) return;
      this.#begin(page.items.map(rowOf), page.next_cursor === null);
    } catch (error) {
      if (signal.aborted) return;
      this.problem = Problem.of(error);
      this.state = 'failed';
    }
  }

  /** Reads the next page of older events. */
  async older(): Promise<void> {
    const before = this.#pages.oldest;
    if (this.#readingOlder || this.complete || before === null || this.state !== 'ready') return;
    const { signal } = this.#reading;
    this.#readingOlder = true;
    try {
      const page = await listEvents(this.filter, { before, limit: PAGE, signal });
      this.#pages.append(page.items.map(rowOf));
      this.complete = page.next_cursor === null;
      this.#version += 1;
    } catch (error) {
      if (!signal.aborted) this.problem = Problem.of(error);
    } finally {
      if (!signal.aborted) this.#readingOlder = false;
    }
  }

  /** Takes note of the visible rows: reads missing pages near them again, and drops the rows of pages far away. */
  inSight(from: number, to: number): void {
    for (const page of this.#pages.within(from - PAGE / 2, to + PAGE / 2))
      if (!page.rows) void this.#reread(page);
    this.#pages.letGo(from, to);
    if (to > this.#pages.length - PAGE / 2) void this.older();
  }

  /** Takes an event that was stored or has changed. Events that come close together are inserted together. */
  apply(event: Event): void {
    this.#came.set(event.id, event);
    this.#flush();
  }

  /** Removes an event's row at once; returns the row, so that it can be put back. */
  remove(id: string): Row | undefined {
    const row = this.row(id);
    if (row && this.#pages.remove(id, row.seq)) this.#version += 1;
    this.#held = this.#held.filter((one) => one.id !== id);
    return row;
  }

  /** Puts back a row that was removed. */
  putBack(row: Row): void {
    if (this.#pages.insert(row)) this.#version += 1;
  }

  /** Shows the new events, and scrolls to the top of the list. */
  newest(): void {
    if (this.newMore) void this.read();
    else this.#putIn(this.#held);
    this.#forgetNew();
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
   * tell whether an event is listed.
   */
  async catchUp(): Promise<void> {
    if (this.state === 'failed') return this.read();
    if (this.state !== 'ready') return;
    const { signal } = this.#reading;
    const known = this.#newestKnown();
    const page = await listEvents(this.filter, { limit: PAGE, signal }).catch(() => null);
    if (!page || signal.aborted) return; // the next loss or event tries again
    const rows = page.items.map(rowOf);
    // Events that the live stream brought meanwhile are already in the list.
    const missed = rows.filter((row) => !this.#change(row) && row.seq > known);
    if (missed.length === PAGE && known > 0) this.#tooMany(missed.length);
    else {
      const newest = this.#newestKnown();
      for (const row of missed) if (row.seq < newest) this.#pages.insert(row);
      this.#add(missed.filter((row) => row.seq > newest));
    }
    this.#version += 1;
  }

  /** Reads all loaded rows again, because changes may have been missed. */
  refresh(): void {
    for (const page of this.#pages.list.slice(1)) if (page.rows) void this.#reread(page);
    void this.catchUp();
  }

  #begin(rows: Row[], complete: boolean) {
    this.#pages.reset(rows);
    for (const row of rows.toReversed()) sources.saw(row.source, row.provider);
    this.complete = complete;
    this.inserted = 0;
    this.#forgetNew();
    this.state = 'ready';
    this.problem = null;
    this.#version += 1;
    this.#flush();
  }

  async #reread(page: Pages['list'][number]) {
    const { signal } = this.#reading;
    const limit = Math.min(1_000, Math.max(page.count, 1));
    const read = await listEvents(this.filter, { before: page.before, limit, signal }).catch(() => null);
    if (!read || signal.aborted) return;
    this.#pages.fill(page, read.items.map(rowOf));
    this.#version += 1;
  }

  #takeIn() {
    if (this.state !== 'ready') return; // they are inserted after the page that is being read
    const came = [...this.#came.values()].sort((a, b) => b.seq - a.seq);
    this.#came.clear();
    const known = this.#newestKnown();
    const added: Row[] = [];
    for (const event of came) {
      notify(event);
      const fits = event.deleted_at === null ? matches(this.filter, event) : false;
      const row = rowOf(event);
      if (event.deleted_at !== null) this.#drop(row);
      else if (this.#change(row)) continue;
      else if (fits === null) this.#askNewer();
      else if (fits && row.seq > known) added.push(row);
      else if (fits) this.#pages.insert(row);
    }
    this.#add(added);
    this.#version += 1;
  }

  #change(row: Row): boolean {
    const held = this.#held.findIndex((one) => one.id === row.id);
    if (held >= 0) this.#held[held] = row;
    return held >= 0 || this.#pages.update(row);
  }

  #drop(row: Row) {
    this.#pages.remove(row.id, row.seq);
    const held = this.#held.length;
    this.#held = this.#held.filter((one) => one.id !== row.id);
    this.newCount -= held - this.#held.length;
  }

  /** Inserts new rows, or holds them back. */
  #add(rows: Row[]) {
    if (rows.length === 0) return;
    if (this.live && this.atTop && this.newCount === 0) return this.#putIn(rows);
    this.newCount += rows.length;
    if (this.#held.length + rows.length > HELD) this.newMore = true;
    else this.#held.unshift(...rows);
  }

  #tooMany(count: number) {
    if (this.live && this.atTop) return void this.read();
    this.newCount = Math.max(this.newCount, count);
    this.newMore = true;
  }

  #putIn(rows: Row[]) {
    this.#pages.prepend(rows);
    this.inserted += rows.length;
    this.#version += 1;
  }

  #forgetNew() {
    this.#held = [];
    this.newCount = 0;
    this.newMore = false;
  }

  #newestKnown(): number {
    return Math.max(this.#pages.newest, this.#held[0]?.seq ?? 0);
  }
}

export const events = new Events();
