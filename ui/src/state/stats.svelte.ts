import { ask, api } from '../api/client';
import { listEvents } from '../api/events';
import type { Event, Stats, View } from '../api/shapes';
import { term } from '../search/quote';
import { soon } from './soon';
import type { Came } from './world';

const MINUTE = 60_000;

/** The inbox in numbers, and how fast it fills. */
class InboxStats {
  /** Null until the numbers were read once. */
  now = $state.raw<Stats | null>(null);
  /** When and how recent events came in. */
  #came: Came[] = [];
  #newest = 0;

  /** Reads the numbers again soon, once for all calls in between. */
  readonly changed = soon(() => void this.read().catch(() => undefined), 500);

  get events(): number {
    return this.now?.events ?? 0;
  }

  /** Returns how many events a saved view shows. */
  of(view: View): number {
    return this.now?.views?.[view] ?? 0;
  }

  /** Returns how many events a source has. */
  ofSource(slug: string): number {
    return this.now?.sources?.find((source) => source.slug === slug)?.events ?? 0;
  }

  /** Whether the signature of a source's newest event is invalid. */
  isNewestInvalid(slug: string): boolean {
    return this.now?.sources?.find((source) => source.slug === slug)?.newest_verdict === 'invalid';
  }

  /** Returns how many deliveries wait for a target. */
  ofTarget(id: number): number {
    return this.now?.targets.find((target) => target.target_id === id)?.waiting ?? 0;
  }

  /** The number of deliveries that are still to be made. */
  get queued(): number {
    const { pending = 0, processing = 0 } = this.now?.deliveries ?? {};
    return pending + processing;
  }

  /** Returns the events of the minute before `now`. This changes with the clock, not with each event. */
  came(now: number): readonly Came[] {
    // All entries are checked: they are not in order, because caught-up events were received long before.
    this.#came = this.#came.filter(({ at }) => at > now - MINUTE);
    return this.#came;
  }

  /** Reads the numbers. */
  async read(): Promise<void> {
    this.now = (await ask(api.GET('/api/stats'))) as Stats;
  }

  /** Reads the events of the last minute, and returns them. */
  async readRate(): Promise<Event[]> {
    const q = term('after', new Date(Date.now() - MINUTE).toISOString());
    const { items } = await listEvents({ q }, { limit: 1_000 });
    this.#came = items.map(({ received_at, via }) => ({ at: Date.parse(received_at), via }));
    this.#newest = Math.max(this.#newest, items[0]?.seq ?? 0);
    return items;
  }

  /** Counts a new event. */
  count({ seq, received_at, via }: Pick<Event, 'seq' | 'received_at' | 'via'>): void {
    if (seq <= this.#newest) return;
    this.#newest = seq;
    this.#came.push({ at: Date.parse(received_at), via });
  }
}

export const stats = new InboxStats();
