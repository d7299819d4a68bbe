import { events } from './events.svelte';
import { route } from './route.svelte';

/** The event that is shown, and the events that are marked for a common action. */
class Selection {
  /** The marked events, unordered. */
  many = $state.raw<ReadonlySet<string>>(new Set());
  /** The event at which a range starts. */
  #anchor: string | null = null;

  /** The event that is shown; null if there is none. */
  get id(): string | null {
    return route.events.id;
  }

  /** Shows an event. */
  show(id: string | null): void {
    this.#anchor = id;
    route.show(id);
  }

  /** Shows the event at an index, limited to the list; returns whether there is one. */
  move(to: number): boolean {
    const at = Math.max(0, Math.min(events.length - 1, to));
    const row = events.slice(at, at + 1)[0];
    if (!row) return false;
    this.show(row.id);
    events.reveal(row.id);
    return true;
  }

  /** Marks or unmarks an event. */
  toggle(id: string): void {
    const many = new Set(this.many);
    if (!many.delete(id)) many.add(id);
    this.many = many;
    this.#anchor = id;
  }

  /** Marks all events between the start of the range and an event. */
  range(id: string): void {
    const [from, to] = [events.indexOf(this.#anchor ?? this.id), events.indexOf(id)].sort((a, b) => a - b);
    if (from === undefined || to === undefined || from < 0) return this.toggle(id);
    const rows = events.slice(from, to + 1);
    this.many = new Set([...this.many, ...rows.flatMap((row) => (row ? [row.id] : []))]);
  }

  /** Shows the event at the end of a range; the start of the range stays. */
  lead(id: string): void {
    route.show(id);
  }

  /** Unmarks all events. */
  clear(): void {
    this.many = new Set();
  }
}

export const selection = new Selection();
