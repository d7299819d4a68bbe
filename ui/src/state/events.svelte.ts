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

/** More new events than these are not kept: showing them reads the list again. */
const HELD = 500;

/** Where the list is to scroll; the list does it and forgets it. */
export type Wanted = { to: 'top' } | { to: 'row'; id: string };

type State = 'loading' | 'ready' | 'failed';

/** The list of events: pages of it, and what comes in. */
class Events {
  filter = $state.raw<Filter>({});
  state = $state<State>('loading');
  problem = $state.raw<Problem | null>(null);
  /** New events are put in at once while the top of the list is in sight. */
  live = $state(true);
  /** New events that are not shown yet. */
  newCount = $state(0);
  /** There are more of them than were counted. */
  newMore = $state(false);
  /** All there is has been read. */
  complete = $state(false);
  wanted = $state.raw<Wanted | null>(null);
  /** How many rows came in at the top since the list was read; it keeps rows in their place on the screen. */
  inserted = $state(0);
  /** The top of the list is in sight. The list sets it. */
  atTop = true;
  /** The first row that is wholly in sight. */
  firstInSight = 0;

  #pages = new Pages();
  #version = $state(0);
  #held: Row[] = [];
  #came = new Map<string, Event>();
  #reading = new AbortController();
  #readingOlder = false;
  #flush = soon(() => this.#takeIn(), 50);
  #askNewer = soon(() => void this.catchUp(), 1_000);

  /** How many rows there are. */
  get length(): number {
    void this.#version;
    return this.#pages.length;
  }

  /** The rows from index `from` to before `to`; undefined while they are read again. */
  slice(from: number, to: number): (Row | undefined)[] {
    void this.#version;
    return this.#pages.slice(from, to);
  }

  /** The index of an event's row, or -1. */
  indexOf(id: string | null): number {
    void this.#version;
    return id === null ? -1 : this.#pages.indexOf(id);
  }

  /** An event's row, where it is listed. */
  row(id: string): Row | undefined {
    const at = this.indexOf(id);
    return at < 0 ? undefined : this.#pages.slice(at, at + 1)[0];
  }

  /** Where gaps stand among the rows. */
  placesOf(gaps: readonly Gap[]): PlacedGap[] {
    void this.#version;
    return placeGaps(gaps, this.#pages.list, this.newCount > 0);
  }

  /** Lists other events. */
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

  /** Reads on where the list ends. */
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

  /** Says which rows are in sight: what was let go there is read again, what is far away is let go. */
  inSight(from: number, to: number): void {
    for (const page of this.#pages.within(from - PAGE / 2, to + PAGE / 2))
      if (!page.rows) void this.#reread(page);
    this.#pages.letGo(from, to);
    if (to > this.#pages.length - PAGE / 2) void this.older();
  }

  /** Takes an event that was stored or has changed. Those that come close together are put in together. */
  apply(event: Event): void {
    this.#came.set(event.id, event);
    this.#flush();
  }

  /** Takes an event's row out at once; answers it, so that it can be put back. */
  remove(id: string): Row | undefined {
    const row = this.row(id);
    if (row && this.#pages.remove(id, row.seq)) this.#version += 1;
    this.#held = this.#held.filter((one) => one.id !== id);
    return row;
  }

  /** Puts a row back that was taken out. */
  putBack(row: Row): void {
    if (this.#pages.insert(row)) this.#version += 1;
  }

  /** Shows what is new, and the top of the list. */
  newest(): void {
    if (this.newMore) void this.read();
    else this.#putIn(this.#held);
    this.#forgetNew();
    this.live = true;
    this.wanted = { to: 'top' };
  }

  /** Scrolls to an event's row where it is listed. */
  reveal(id: string): void {
    this.wanted = { to: 'row', id };
  }

  /** Shows new events at once, or holds them back. */
  toggleLive(): void {
    this.live = !this.live;
    this.scrolled(this.atTop);
  }

  /** The list says whether its top is in sight; coming back there shows what is new. */
  scrolled(atTop: boolean): void {
    this.atTop = atTop;
    if (atTop && this.live && this.newCount > 0) this.newest();
  }

  /** After a loss, or where only the API knows what is listed: reads what is newer than the list, and the rows near it again. */
  async catchUp(): Promise<void> {
    if (this.state === 'failed') return this.read();
    if (this.state !== 'ready') return;
    const { signal } = this.#reading;
    const known = this.#newestKnown();
    const page = await listEvents(this.filter, { limit: PAGE, signal }).catch(() => null);
    if (!page || signal.aborted) return; // the next loss or event asks again
    const rows = page.items.map(rowOf);
    // What came in by itself while this was read is there already.
    const missed = rows.filter((row) => !this.#change(row) && row.seq > known);
    if (missed.length === PAGE && known > 0) this.#tooMany(missed.length);
    else {
      const newest = this.#newestKnown();
      for (const row of missed) if (row.seq < newest) this.#pages.insert(row);
      this.#add(missed.filter((row) => row.seq > newest));
    }
    this.#version += 1;
  }

  /** Reads every row again that is kept, since changes may have been missed. */
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
    if (this.state !== 'ready') return; // they are put in after the page that is being read
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

  /** New rows go in, or are held back. */
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
