import { Problem } from '../../../api/client';
import { copiesOf, type CopyList } from '../../../api/events';
import type { Event } from '../../../api/shapes';
import { compareBodies, LARGEST_COMPARED, type Difference } from './logic/compare-bodies';
import type { Copy } from './logic/copies';
import type { Check } from './logic/verdict';
import { bodyOf, checkEvent, showEvent } from './requests';

/** How many copies are listed. */
const MOST_COPIES = 100;

/** How many copies are compared value by value. */
const MOST_COMPARED = 10;

/** One event with everything that the detail pane shows. It is read again whenever the event changes. */
export class Detail {
  event: Event | null = $state.raw(null);
  check: Check | null = $state.raw(null);
  copies: CopyList | null = $state.raw(null);
  problem: Problem | null = $state.raw(null);

  readonly id: string;
  /** Resolves after the first read, whether it succeeded or failed. */
  readonly ready: Promise<void>;
  readonly #abort = new AbortController();
  /** The first copy with its deliveries, if that is another event. */
  #first: Event | null = $state.raw(null);
  #differences: Map<string, Difference> = $state.raw(new Map());
  #reading: Promise<void> | null = null;
  #again = false;

  constructor(id: string) {
    this.id = id;
    this.ready = this.refresh();
  }

  /** The event is no longer in the inbox. */
  get gone(): boolean {
    return this.problem?.status === 404;
  }

  /** The copies, each compared with the first. Empty if the event came once. */
  get compared(): Copy[] {
    const items = this.copies?.items ?? [];
    const first = items[0];
    if (!first || items.length < 2) return [];
    const known = new Map([this.event, this.#first].map((event) => [event?.id, event]));
    return items.map((item, at) => {
      const event = known.get(item.id) ?? item;
      const same: Difference | null = event.sha256 === first.sha256 ? { kind: 'identical' } : null;
      return {
        event,
        number: at + 1,
        difference: at === 0 ? null : (same ?? this.#differences.get(event.id) ?? null),
      };
    });
  }

  /** Reads everything again. Calls during a read cause one more read after it. */
  refresh(): Promise<void> {
    this.#again = this.#reading !== null;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
      if (this.#again && !this.#abort.signal.aborted) void this.refresh();
    });
    return this.#reading;
  }

  /** Aborts a running read. */
  close(): void {
    this.#abort.abort();
  }

  async #read(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const [event] = await Promise.all([showEvent(this.id, signal), this.#around(signal)]);
      this.event = event;
      this.problem = null;
    } catch (error) {
      if (!signal.aborted) this.problem = Problem.of(error);
    }
  }

  /** Reads the fresh verification and the copies. Each may fail by itself and is then left out. */
  async #around(signal: AbortSignal): Promise<void> {
    const [check, copies] = await Promise.allSettled([
      checkEvent(this.id, signal),
      copiesOf(this.id, MOST_COPIES, signal),
    ]);
    if (check.status === 'fulfilled') this.check = check.value;
    if (copies.status !== 'fulfilled') return;
    this.copies = copies.value;
    const first = copies.value.items[0];
    const [other] = await Promise.allSettled([
      first && first.id !== this.id ? showEvent(first.id, signal) : null,
      this.#compare(copies.value, signal),
    ]);
    if (other.status === 'fulfilled') this.#first = other.value;
  }

  async #compare({ items }: CopyList, signal: AbortSignal): Promise<void> {
    const [first, ...rest] = items;
    if (!first) return;
    const others = rest.filter((copy) => copy.sha256 !== first.sha256 && !this.#differences.has(copy.id));
    if (others.length === 0) return;
    const found = new Map(this.#differences);
    const compare = (first.size > LARGEST_COMPARED ? [] : others.slice(0, MOST_COMPARED)).filter(
      (copy) => copy.size <= LARGEST_COMPARED,
    );
    others.forEach((copy) => found.set(copy.id, { kind: 'large' }));
    try {
      const before = compare.length > 0 ? (await bodyOf(first.id, null, signal)).bytes : new Uint8Array();
      for (const copy of compare) {
        const after = await bodyOf(copy.id, null, signal);
        found.set(copy.id, compareBodies(before, after.bytes));
      }
    } catch {
      return; // the copies stay uncompared until the next read
    }
    this.#differences = found;
  }
}
