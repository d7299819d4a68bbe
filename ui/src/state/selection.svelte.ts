import { events } from './events.svelte';
import { route } from './route.svelte';

/** The event that is shown, and those that are marked for an action on several. */
class Selection {
  /** Marked events, in no order. */
  many = $state.raw<ReadonlySet<string>>(new Set());
  /** Where a range began. */
  #anchor: string | null = null;

  /** The event that is shown; null shows none. */
  get id(): string | null {
    return route.events.id;
  }

  /** Shows an event. */
  show(id: string | null): void {
    this.#anchor = id;
    route.show(id);
  }

  /** Moves by rows, from nothing to the first; true where there was one. */
  move(to: number): boolean {
    const at = Math.max(0, Math.min(events.length - 1, to));
    const row = events.slice(at, at + 1)[0];
    if (!row) return false;
    this.show(row.id);
    events.reveal(row.id);
    return true;
  }

  /** Marks an event, or unmarks it. */
  toggle(id: string): void {
    const many = new Set(this.many);
    if (!many.delete(id)) many.add(id);
    this.many = many;
    this.#anchor = id;
  }

  /** Marks all from where the range began to an event. */
  range(id: string): void {
    const [from, to] = [events.indexOf(this.#anchor ?? this.id), events.indexOf(id)].sort((a, b) => a - b);
    if (from === undefined || to === undefined || from < 0) return this.toggle(id);
    const rows = events.slice(from, to + 1);
    this.many = new Set([...this.many, ...rows.flatMap((row) => (row ? [row.id] : []))]);
  }

  /** Shows the end of a range; where it began stays. */
  lead(id: string): void {
    route.show(id);
  }

  /** Unmarks all. */
  clear(): void {
    this.many = new Set();
  }
}

export const selection = new Selection();
