import Trash2 from '@lucide/svelte/icons/trash-2';

import { Problem } from '../api/client';
import {
  addSearch,
  changeSearch,
  countOf,
  type Found,
  listSearches,
  removeSearch,
  type SavedSearch,
} from '../api/search';
import { route } from '../state/route.svelte';
import { soon } from '../state/soon';
import { toasts } from '../state/toasts.svelte';
import { search } from './search.svelte';

/** How often counts are asked for again at most, in milliseconds. */
const CALM = 5_000;

/** The searches that were saved under a name, and how many events each finds. */
class Saved {
  list = $state.raw<readonly SavedSearch[]>([]);
  #found = $state.raw<ReadonlyMap<string, Found>>(new Map());
  /** How many places show the counts. */
  #watchers = 0;
  #counting = false;

  /** Counts again soon, once for all calls in between. */
  readonly changed = soon(() => void this.#count(), CALM);

  /** The saved search that the list shows. */
  get current(): SavedSearch | undefined {
    const { view, source } = route.events;
    return view || source || !search.text ? undefined : this.list.find(({ q }) => q === search.text);
  }

  /** Returns how many events a search finds; undefined until that is known. */
  found({ q }: SavedSearch): Found | undefined {
    return this.#found.get(q);
  }

  /** Keeps the counts up to date until the returned function is called. */
  watch(): () => void {
    this.#watchers += 1;
    void this.#count();
    return () => (this.#watchers -= 1);
  }

  /** Reads the saved searches. */
  async read(): Promise<void> {
    this.list = await listSearches();
    void this.#count();
  }

  /** Saves a search, and shows what it finds. @throws {Problem} if that fails. */
  async add(name: string, q: string): Promise<void> {
    await addSearch({ name, q });
    await this.read();
    search.open(q);
  }

  /** Gives a saved search another name. @throws {Problem} if that fails. */
  async rename({ id }: SavedSearch, name: string): Promise<void> {
    await changeSearch(id, { name });
    await this.read();
  }

  /** Removes a saved search, with undo. */
  async remove(saved: SavedSearch): Promise<void> {
    const { id, name, q } = saved;
    this.list = this.list.filter((one) => one.id !== id);
    try {
      await removeSearch(id);
      const undo = () => void this.#putBack(name, q);
      toasts.say(`${name} removed`, { icon: Trash2, undo });
    } catch (error) {
      toasts.fail(`Not removed: ${Problem.of(error).detail}`, { retry: () => void this.remove(saved) });
      await this.read().catch(() => undefined);
    }
  }

  async #putBack(name: string, q: string) {
    try {
      await addSearch({ name, q });
      await this.read();
    } catch (error) {
      const retry = () => void this.#putBack(name, q);
      toasts.fail(`Not restored: ${Problem.of(error).detail}`, { retry });
    }
  }

  /** Counts what each search finds, one after the other. A count that fails stays as it was. */
  async #count() {
    if (this.#watchers === 0 || this.#counting || document.hidden) return;
    this.#counting = true;
    for (const { q } of this.list) {
      const found = await countOf({ q }).catch(() => null);
      if (found) this.#found = new Map(this.#found).set(q, found);
    }
    this.#counting = false;
  }
}

export const saved = new Saved();
