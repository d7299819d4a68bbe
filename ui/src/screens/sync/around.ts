import type { SyncView } from '../../api/sync';
import type { Around } from '../../format/sync';
import { providerName } from '../inspector/detail/provider-names.svelte';
import { clock } from '../../state/clock.svelte';
import { sources } from '../../state/sources.svelte';
import { syncs } from '../../state/syncs.svelte';

/** Returns what is known of a source besides how it is synced. */
export function aroundOf(view: SyncView): Around {
  const found = sources.list.find(({ slug }) => slug === view.source);
  const provider = found?.provider ?? null;
  return {
    provider,
    name: view.connector?.name ?? (provider === null ? view.source : providerName(provider)),
    job: syncs.last.get(view.source),
    due: syncs.dueAt(view),
    now: clock.now,
  };
}
