import { api, ask } from '../api/client';
import type { components } from '../api/schema.gen';
import { Pager } from './pager.svelte';
import { soon } from './soon';

/** A request that was refused instead of stored. */
export type Refusal = components['schemas']['RefusedJson'];

/** What a relay refused; no more is known of it. */
export type RelayRefused = components['schemas']['RelayRefused'];

/** The requests that were refused. */
class Refusals {
  /** What relays refused. */
  relays = $state.raw<readonly RelayRefused[]>([]);
  readonly list = new Pager<Refusal>(async (cursor, limit) => {
    const query = cursor === null ? { limit } : { limit, cursor };
    const { items, next_cursor, relays } = await ask(api.GET('/api/refusals', { params: { query } }));
    this.relays = relays;
    return { items, next_cursor: next_cursor ?? null };
  });
  #watchers = 0;

  /** Reads them again soon, if they are shown. */
  readonly changed = soon(() => {
    if (this.#watchers > 0) void this.list.refresh();
  }, 300);

  /** Keeps them up to date until the returned function is called. */
  watch(): () => void {
    this.#watchers += 1;
    void this.list.refresh();
    return () => (this.#watchers -= 1);
  }
}

export const refusals = new Refusals();
