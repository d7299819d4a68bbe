import { ask, api } from '../api/client';
import { listEvents } from '../api/events';
import type { Event, Stats, View } from '../api/shapes';
import { clock } from './clock.svelte';
import { soon } from './soon';

const MINUTE = 60_000;

/** The inbox in numbers, and how fast it fills. */
class InboxStats {
  /** Null until they were read once. */
  now = $state.raw<Stats | null>(null);
  /** When and how events came in of late. */
  #came: { at: number; via: Event['via'] }[] = [];
  #newest = 0;

  /** Reads them again soon, once for all that happens meanwhile. */
  readonly changed = soon(() => void this.read().catch(() => undefined), 500);

  get events(): number {
    return this.now?.events ?? 0;
  }

  /** How many events a saved view shows. */
  of(view: View): number {
    return this.now?.views?.[view] ?? 0;
  }

  /** How many events a source has. */
  ofSource(slug: string): number {
    return this.now?.sources?.find((source) => source.slug === slug)?.events ?? 0;
  }

  /** Deliveries that wait for a target. */
  ofTarget(id: number): number {
    return this.now?.targets.find((target) => target.target_id === id)?.waiting ?? 0;
  }

  /** Deliveries that are still to be made. */
  get queued(): number {
    const { pending = 0, processing = 0 } = this.now?.deliveries ?? {};
    return pending + processing;
  }

  /** Events of the last minute; it changes with the clock, not with each event. */
  get perMinute(): number {
    const since = clock.now - MINUTE;
    // Not in order: what is caught up came in long ago.
    this.#came = this.#came.filter(({ at }) => at > since);
    return this.#came.length;
  }

  /** Those of them that came through a tunnel. */
  get perMinuteTunnelled(): number {
    return this.perMinute && this.#came.filter(({ via }) => via === 'tunnel').length;
  }

  /** Reads the numbers. */
  async read(): Promise<void> {
    this.now = (await ask(api.GET('/api/stats'))) as Stats;
  }

  /** Counts what came in during the last minute. */
  async readRate(): Promise<void> {
    const since = new Date(Date.now() - MINUTE).toISOString();
    const { items } = await listEvents({ since }, { limit: 1_000 });
    this.#came = items.map(({ received_at, via }) => ({ at: Date.parse(received_at), via }));
    this.#newest = items[0]?.seq ?? 0;
  }

  /** Counts an event that came in just now. */
  count({ seq, received_at, via }: Event): void {
    if (seq <= this.#newest) return;
    this.#newest = seq;
    this.#came.push({ at: Date.parse(received_at), via });
  }
}

export const stats = new InboxStats();
