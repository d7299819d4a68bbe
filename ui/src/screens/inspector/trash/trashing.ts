import Trash2 from '@lucide/svelte/icons/trash-2';

import { Problem } from '../../../api/client';
import { deleteForGood, deleteFound, emptyTrash, restoreAll } from '../../../api/trash';
import { restoreEvent } from '../../../api/events';
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
  const { gone, stay } = await deleteForGood(id);
  if (gone > 0) leave(id);
  toasts.say(stay > 0 ? 'It is being sent, and stays' : 'Deleted for good', { icon: Trash2 });
  changed();
}

/** Begins to delete for good what is in the trash; a job says how far it is. @throws {Problem} if that fails. */
export async function empty(): Promise<void> {
  await emptyTrash();
  if (route.events.view === 'trash') route.show(null);
}

/** Begins to move what a search finds to the trash; a job says how far it is, and offers undo. @throws {Problem} */
export async function clear(q: string): Promise<void> {
  await deleteFound(q);
}
