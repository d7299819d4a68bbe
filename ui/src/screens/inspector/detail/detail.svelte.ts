import { Problem } from '../../../api/client';
import type { Event } from '../../../api/shapes';
import { compareBodies, LARGEST_COMPARED, type Difference } from './logic/compare-bodies';
import type { Copy } from './logic/copies';
import type { Check } from './logic/verdict';
import { bodyOf, checkEvent, copiesOf, showEvent, type CopyList } from './requests';

/** So many copies are compared value by value. */
const MOST_COMPARED = 10;

/** One event with all that the detail pane shows of it. It is read again in place whenever it changes. */
export class Detail {
  event: Event | null = $state.raw(null);
  check: Check | null = $state.raw(null);
  copies: CopyList | null = $state.raw(null);
  problem: Problem | null = $state.raw(null);

  readonly id: string;
  /** Ends with the first reading, however it went. */
  readonly ready: Promise<void>;
  readonly #abort = new AbortController();
  /** The first of the copies with its deliveries, where that is another event. */
  #first: Event | null = $state.raw(null);
  #differences: Map<string, Difference> = $state.raw(new Map());
  #reading: Promise<void> | null = null;
  #again = false;

  constructor(id: string) {
    this.id = id;
    this.ready = this.refresh();
  }

  /** It is in the inbox no more. */
  get gone(): boolean {
    return this.problem?.status === 404;
  }

  /** The copies, each compared with the first. Empty where the event came once. */
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

  /** Reads everything again. Calls that come meanwhile are answered by one more reading. */
  refresh(): Promise<void> {
    this.#again = this.#reading !== null;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
      if (this.#again && !this.#abort.signal.aborted) void this.refresh();
    });
    return this.#reading;
  }

  /** Ends what is under way. */
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

  /** What stands around the event. Each part may fail by itself: then it is left out. */
  async #around(signal: AbortSignal): Promise<void> {
    const [check, copies] = await Promise.allSettled([
      checkEvent(this.id, signal),
      copiesOf(this.id, signal),
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
      return; // the copies stay uncompared until the next reading
    }
    this.#differences = found;
  }
}
