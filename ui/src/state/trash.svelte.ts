import { countTrash, listTrash } from '../api/trash';
import type { Found } from '../api/search';
import type { Event } from '../api/shapes';
import { Pager } from './pager.svelte';
import { soon } from './soon';

/** What is in the trash. */
class Trash {
  readonly list = new Pager<Event>(listTrash);
  /** How much there is; null until that is known. */
  found = $state.raw<Found | null>(null);
  /** How many places show the list. */
  #watchers = 0;

  /** Reads it again soon, once for all calls in between. */
  readonly changed = soon(() => void this.read(), 300);

  /** How many events are in it, or at least. */
  get count(): number {
    return this.found?.count ?? 0;
  }

  /** Keeps the list up to date until the returned function is called. */
  watch(): () => void {
    this.#watchers += 1;
    void this.read();
    return () => (this.#watchers -= 1);
  }

  /** Takes note of an event that was stored or changed: it may have gone there, or have come back. */
  saw({ deleted_at }: Pick<Event, 'deleted_at'>): void {
    if (deleted_at !== null || this.count > 0) this.changed();
  }

  /** Counts it, and reads the list if that is shown. */
  async read(): Promise<void> {
    if (this.#watchers > 0) void this.list.refresh();
    this.found = await countTrash().catch(() => this.found);
  }
}

export const trash = new Trash();
