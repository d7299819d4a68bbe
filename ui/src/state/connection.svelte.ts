import { isOpen } from '../format/job';
import { opened } from '../api/ahead';
import { onUnauthorised } from '../api/client';
import { keepLive } from '../api/live';
import type { Event, Gap, Job, Tunnel } from '../api/shapes';
import { saved } from '../search/saved.svelte';
import { search } from '../search/search.svelte';
import { events } from './events.svelte';
import { type Filter, queryOf } from './filter';
import { gaps } from './gaps.svelte';
import { jobs } from './jobs.svelte';
import { refusals } from './refusals.svelte';
import { route } from './route.svelte';
import { sources } from './sources.svelte';
import { stats } from './stats.svelte';
import { trash } from './trash.svelte';
import { syncs } from './syncs.svelte';
import { tunnels } from './tunnels.svelte';
import { notify } from './watchers';

/** How often targets are looked at while the page is seen. */
const LOOK_EVERY = 10_000;

/** How long everything else waits for the first rows at most, in milliseconds. */
const PATIENCE = 300;

type State = 'opening' | 'unauthorised' | 'connecting' | 'live' | 'lost';

/** An event that was stored or has changed, and does not pass the filter of the stream. */
type Unmatched = Pick<Event, 'id' | 'seq' | 'source' | 'provider' | 'received_at' | 'via'>;

/** The live connection to hookmitt, and what its frames change. */
class Connection {
  state = $state<State>('opening');
  /** Since when the connection is lost. */
  since = $state<number | null>(null);
  /** The page was opened by a link whose code was used before, or is too old. */
  expired = false;
  /** The highest number of an event that was heard of. */
  newest = 0;
  /** The first rows. */
  #rows: Promise<void> = Promise.resolve();
  #end = new AbortController();
  /** The filter of the stream, as parameters. */
  #followed = '';

  /** Opens the connection. Call it once. */
  async start(): Promise<void> {
    onUnauthorised(() => this.#refused());
    const how = await opened();
    this.expired = how === 'expired';
    if (how !== 'opened') return this.#refused();
    this.state = 'connecting';
    const { place } = route;
    if (place.screen === 'events' && place.view !== 'trash') this.#rows = events.ahead(search.filter);
    setInterval(() => this.#look(), LOOK_EVERY);
    document.addEventListener('visibilitychange', () => this.#look());
    await this.#listen(0, () => this.#opened());
  }

  /**
   * Has the stream bring the events that pass a filter, first those that were stored after the number `after`. If that is
   * 0, because it is not known, the list catches up.
   */
  follow(filter: Filter, after: number): void {
    const followed = paramsOf(filter);
    if (followed === this.#followed || this.state === 'unauthorised') return;
    this.#followed = followed;
    this.#end.abort();
    this.#end = new AbortController();
    void this.#listen(after, () => this.#turned());
  }

  /** Keeps the stream open until another one is followed. `opened` is called the first time. */
  async #listen(after: number, opened: () => void): Promise<void> {
    const followed = this.#followed;
    let [since, open] = [after, opened];
    const path = () => `/api/live?glance=true${followed}${since > 0 ? `&after=${since}` : ''}`;
    const stream = {
      open: () => {
        open();
        [since, open] = [0, () => this.#opened()];
      },
      frame: (name: string, data: unknown) => this.#frame(name, data),
      lost: () => this.#lost(),
      refused: () => this.#refused(),
    };
    await keepLive(path, stream, this.#end.signal);
  }

  /** The stream brings other events now. What changed while it was opened is read: no stream told of it. */
  #turned() {
    if (this.since !== null) return this.#opened();
    this.state = 'live';
    events.refresh();
    void jobs.read();
    void tunnels.read();
    void gaps.read().catch(() => undefined);
    sources.changed();
  }

  #opened() {
    this.state = 'live';
    this.since = null;
    void this.#readAnew();
    events.refresh(); // no stream told of what changed since it was read
  }

  #look() {
    if (this.state === 'live' && !document.hidden) void sources.look();
  }

  /** Reads all that the left pane shows, but never before the first rows. */
  async #readAnew() {
    void stats.read().catch(() => undefined); // without rows, they tell which screen is the first
    await Promise.race([this.#rows.then(drawn), passed(PATIENCE)]);
    void sources.read().then(
      () => this.#look(),
      () => undefined,
    );
    void this.#readRecent();
    void tunnels.read();
    void gaps.read().catch(() => undefined);
    void jobs.read();
    trash.changed();
    refusals.changed();
    syncs.changed();
    void saved.read().catch(() => undefined);
  }

  /** Reads the events of the last minute, also those that don't pass the filter. */
  async #readRecent() {
    const recent = await stats.readRate().catch(() => []);
    for (const { source, provider } of recent) sources.saw(source, provider);
    this.newest = Math.max(this.newest, recent[0]?.seq ?? 0);
  }

  #lost() {
    if (this.state === 'unauthorised') return;
    this.since ??= Date.now();
    this.state = 'lost';
  }

  #refused() {
    this.state = 'unauthorised';
    this.#end.abort();
  }

  #frame(name: string, data: unknown) {
    if (name === 'event') this.#event(data as Event);
    if (name === 'unmatched') this.#unmatched(data as Unmatched);
    if (name === 'tunnel') return tunnels.apply(data as Tunnel);
    if (name === 'job') return this.#job(data as Job);
    if (name === 'refused') return refusals.changed();
    if (name === 'gap') this.#gap(data as Gap);
    if (name === 'lagged') {
      void this.#readAnew();
      events.refresh();
    }
    if (name === 'config') {
      sources.changed();
      tunnels.changed();
      syncs.changed();
      void saved.read().catch(() => undefined);
    }
    stats.changed();
    saved.changed();
  }

  /** Whether the stream brings what the list shows; if not, the list was just filtered by something else. */
  get #isListed(): boolean {
    return this.#followed === paramsOf(events.filter);
  }

  #event(event: Event) {
    this.#heardOf(event);
    trash.saw(event);
    if (this.#isListed) events.apply(event);
    else notify(event);
  }

  #unmatched(event: Unmatched) {
    this.#heardOf(event);
    trash.changed(); // it may have been deleted
    const { id } = event;
    if (this.#isListed) events.unmatched(id);
    else notify({ id, duplicate_of: null });
  }

  /** Counts an event, whether it passes the filter or not. */
  #heardOf(event: Unmatched) {
    this.newest = Math.max(this.newest, event.seq);
    stats.count(event);
    sources.saw(event.source, event.provider);
  }

  #job(job: Job) {
    jobs.apply(job);
    syncs.saw(job);
    if (job.kind !== 'sync' || isOpen(job)) return;
    tunnels.changed(); // what was recovered of their gaps
    void gaps.read().catch(() => undefined);
  }

  #gap(line: Gap) {
    tunnels.closed(line);
    gaps.closed(line);
  }
}

/** Returns what a stream is filtered by. The list itself folds repeats, because it can show them beneath their first. */
function paramsOf({ view, source, q }: Filter): string {
  const params = queryOf({ ...(view && { view }), ...(source && { source }), ...(q && { q }) }).toString();
  return params && `&${params}`;
}

/** Waits until what is known by now was drawn. */
const drawn = () => new Promise<void>((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

const passed = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export const connection = new Connection();
