import { onUnauthorised } from '../api/client';
import { keepLive } from '../api/live';
import type { Event, Gap, Job, Tunnel } from '../api/shapes';
import { transport } from '../api/transport';
import { events } from './events.svelte';
import { gaps } from './gaps.svelte';
import { jobs } from './jobs.svelte';
import { sources } from './sources.svelte';
import { stats } from './stats.svelte';
import { tunnels } from './tunnels.svelte';

/** How often targets are looked at while the page is seen. */
const LOOK_EVERY = 10_000;

type State = 'opening' | 'unauthorised' | 'connecting' | 'live' | 'lost';

/** The live connection to hookmitt, and what its frames change. */
class Connection {
  state = $state<State>('opening');
  /** Since when the connection is lost. */
  since = $state<number | null>(null);
  /** The page was opened by a link whose code was used before, or is too old. */
  expired = false;
  #end = new AbortController();

  /** Opens the connection. Call it once. */
  async start(): Promise<void> {
    onUnauthorised(() => this.#refused());
    const opened = await transport.open().catch(() => 'closed' as const);
    this.expired = opened === 'expired';
    if (opened !== 'opened') return this.#refused();
    this.state = 'connecting';
    setInterval(() => this.#look(), LOOK_EVERY);
    document.addEventListener('visibilitychange', () => this.#look());
    const stream = {
      open: () => this.#opened(),
      frame: (name: string, data: unknown) => this.#frame(name, data),
      lost: () => this.#lost(),
      refused: () => this.#refused(),
    };
    await keepLive('/api/live?glance=true', stream, this.#end.signal);
  }

  #opened() {
    const again = this.since !== null;
    this.state = 'live';
    this.since = null;
    this.#readAnew();
    if (again) events.refresh();
  }

  #look() {
    if (this.state === 'live' && !document.hidden) void sources.look();
  }

  #readAnew() {
    void sources.read().then(
      () => this.#look(),
      () => undefined,
    );
    void stats.read().catch(() => undefined);
    void stats.readRate().catch(() => undefined);
    void tunnels.read();
    void gaps.read().catch(() => undefined);
    void jobs.read();
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
    if (name === 'event') {
      const event = data as Event;
      stats.count(event);
      events.apply(event);
      sources.saw(event.source, event.provider);
    }
    if (name === 'tunnel') return tunnels.apply(data as Tunnel);
    if (name === 'job') return jobs.apply(data as Job);
    if (name === 'gap') this.#gap(data as Gap);
    if (name === 'lagged') {
      this.#readAnew();
      events.refresh();
    }
    if (name === 'config') {
      sources.changed();
      tunnels.changed();
    }
    stats.changed();
  }

  #gap(line: Gap) {
    tunnels.closed(line);
    gaps.closed(line);
  }
}

export const connection = new Connection();
