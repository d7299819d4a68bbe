import Trash2 from '@lucide/svelte/icons/trash-2';
import RotateCcw from '@lucide/svelte/icons/rotate-ccw';

import { Problem } from '../../../api/client';
import { deleteEvent, replayEvent, restoreEvent } from '../../../api/events';
import { counted } from '../../../format/count';
import { events } from '../../../state/events.svelte';
import { selection } from '../../../state/selection.svelte';
import { stats } from '../../../state/stats.svelte';
import { toasts } from '../../../state/toasts.svelte';
import { trash } from '../../../state/trash.svelte';

/** Deletes events, with undo. */
export async function removeEvents(ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const next = neighbour(ids);
  const what = called(ids);
  const rows = ids.flatMap((id) => events.remove(id) ?? []);
  if (selection.id && ids.includes(selection.id)) selection.show(next);
  selection.clear();
  let ended = 0;
  const failed = await each(ids, async (id) => void (ended += await deleteEvent(id)));
  stats.changed();
  trash.changed();
  const gone = ids.filter((id) => !failed.ids.includes(id));
  if (gone.length > 0) {
    const waited = ended > 0 ? `, ${counted(ended, 'waiting delivery', 'waiting deliveries')} ended` : '';
    toasts.say(`${gone.length === ids.length ? what : counted(gone.length, 'event')} deleted${waited}`, {
      icon: Trash2,
      undo: () => void bringBack(gone),
    });
  }
  if (failed.problem) {
    for (const row of rows) if (failed.ids.includes(row.id)) events.putBack(row);
    toasts.fail(`Not deleted: ${failed.problem.detail}`, { retry: () => void removeEvents(failed.ids) });
  }
}

/** Restores deleted events; the live stream brings their rows back. */
async function bringBack(ids: readonly string[]): Promise<void> {
  const failed = await each(ids, restoreEvent);
  stats.changed();
  if (failed.problem) {
    toasts.fail(`Not restored: ${failed.problem.detail}`, { retry: () => void bringBack(failed.ids) });
  }
}

/** Replays events unchanged, one after the other. */
export async function replayEvents(ids: readonly string[]): Promise<void> {
  let deliveries = 0;
  const failed = await each(ids, async (id) => void (deliveries += await replayEvent(id)));
  if (deliveries > 0) {
    toasts.say(`${counted(ids.length - failed.ids.length, 'event')} replayed`, { icon: RotateCcw });
  }
  if (failed.problem) {
    toasts.fail(`Not replayed: ${failed.problem.detail}`, { retry: () => void replayEvents(failed.ids) });
  }
}

async function each(ids: readonly string[], act: (id: string) => Promise<void>) {
  const failed: { ids: string[]; problem: Problem | null } = { ids: [], problem: null };
  for (const id of ids) {
    await act(id).catch((error: unknown) => {
      failed.ids.push(id);
      failed.problem = Problem.of(error);
    });
  }
  return failed;
}

/** Returns the name of one event, or the number of several. */
function called(ids: readonly string[]): string {
  const [id] = ids;
  const row = id !== undefined && ids.length === 1 ? events.row(id) : undefined;
  return row?.name ?? counted(ids.length, 'event');
}

/** Returns the event to show when these are gone: the next below, else the last above. */
function neighbour(ids: readonly string[]): string | null {
  const at = events.indexOf(selection.id);
  if (at < 0) return null;
  const below = events.slice(at, at + ids.length + 1).find((row) => row && !ids.includes(row.id));
  const above = events
    .slice(Math.max(0, at - ids.length - 1), at)
    .findLast((row) => row && !ids.includes(row.id));
  return below?.id ?? above?.id ?? null;
}
