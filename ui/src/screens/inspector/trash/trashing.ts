import Trash2 from '@lucide/svelte/icons/trash-2';

import { Problem } from '../../../api/client';
import { deleteForGood, deleteFound, emptyTrash, type Gone, restoreAll } from '../../../api/trash';
import { restoreEvent } from '../../../api/events';
import { counted } from '../../../format/count';
import { route } from '../../../state/route.svelte';
import { stats } from '../../../state/stats.svelte';
import { toasts } from '../../../state/toasts.svelte';
import { trash } from '../../../state/trash.svelte';

/** Shows the trash's next event in place of one that leaves it. */
function leave(id: string): void {
  const { items } = trash.list;
  const at = items.findIndex((event) => event.id === id);
  if (at < 0 || route.events.view !== 'trash' || route.events.id !== id) return;
  route.show((items[at + 1] ?? items[at - 1])?.id ?? null);
}

function changed(): void {
  stats.changed();
  trash.changed();
}

/** Restores an event. */
export async function restore(id: string): Promise<void> {
  try {
    await restoreEvent(id);
    leave(id);
    toasts.say('Restored');
    changed();
  } catch (error) {
    toasts.fail(`Not restored: ${Problem.of(error).detail}`, { retry: () => void restore(id) });
  }
}

/** Begins to restore everything; a job says how far it is. */
export async function restoreEverything(): Promise<void> {
  try {
    await restoreAll();
  } catch (error) {
    toasts.fail(`Not restored: ${Problem.of(error).detail}`, { retry: () => void restoreEverything() });
  }
}

/** Deletes an event for good. @throws {Problem} if that fails. */
export async function purge(id: string): Promise<void> {
  const gone = await deleteForGood(id);
  if (gone.gone > 0) leave(id);
  tell(gone);
}

/** Deletes for good what is in the trash. @throws {Problem} if that fails. */
export async function empty(): Promise<void> {
  tell(await emptyTrash());
  if (route.events.view === 'trash') route.show(null);
}

/** Begins to move what a search finds to the trash; a job says how far it is, and offers undo. @throws {Problem} */
export async function clear(q: string): Promise<void> {
  await deleteFound(q);
}

function tell({ gone, stay }: Gone): void {
  const stays =
    stay > 0
      ? `${counted(stay, 'event')} ${stay === 1 ? 'is' : 'are'} being sent, and ${stay === 1 ? 'stays' : 'stay'}`
      : '';
  const went = gone > 0 || stay === 0 ? `${counted(gone, 'event')} deleted for good` : '';
  toasts.say([went, stays].filter(Boolean).join('; '), { icon: Trash2 });
  changed();
}
