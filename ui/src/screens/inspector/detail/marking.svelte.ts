import Pin from '@lucide/svelte/icons/pin';
import StickyNote from '@lucide/svelte/icons/sticky-note';
import Tag from '@lucide/svelte/icons/tag';

import { Problem } from '../../../api/client';
import { type MarkChange, markEvent } from '../../../api/marks';
import type { Event } from '../../../api/shapes';
import { counted } from '../../../format/count';
import { visible } from '../../../format/words';
import { events } from '../../../state/events.svelte';
import { toasts } from '../../../state/toasts.svelte';

type Marked = Pick<Event, 'id' | 'pinned' | 'note' | 'tags'>;

/** Which field for marks is open. */
class Marking {
  open = $state<'note' | 'tags' | null>(null);
}

export const marking = new Marking();

/** Pins an event, or takes the pin away. */
export async function togglePin(event: Pick<Event, 'id' | 'pinned'>): Promise<void> {
  const pinned = !event.pinned;
  try {
    await markEvent(event.id, { pinned });
    const undo = () => void togglePin({ id: event.id, pinned });
    toasts.say(pinned ? 'Pinned: retention keeps it' : 'No longer pinned', { icon: Pin, undo });
  } catch (error) {
    toasts.fail(`Not ${pinned ? 'pinned' : 'unpinned'}: ${Problem.of(error).detail}`, {
      retry: () => void togglePin(event),
    });
  }
}

/** Pins listed events; if all of them are pinned, takes their pins away. */
export async function togglePins(ids: readonly string[]): Promise<void> {
  const pinned = ids.some((id) => events.row(id)?.pinned === false);
  await pinAll(
    ids.filter((id) => events.row(id)?.pinned !== pinned),
    pinned,
  );
}

async function pinAll(ids: readonly string[], pinned: boolean): Promise<void> {
  try {
    for (const id of ids) await markEvent(id, { pinned });
    const undo = () => void pinAll(ids, !pinned);
    toasts.say(`${counted(ids.length, 'event')} ${pinned ? 'pinned' : 'unpinned'}`, { icon: Pin, undo });
  } catch (error) {
    toasts.fail(`Not all ${pinned ? 'pinned' : 'unpinned'}: ${Problem.of(error).detail}`, {
      retry: () => void pinAll(ids, pinned),
    });
  }
}

/** Sets an event's note, or removes it if it is blank. @throws {Problem} if that fails. */
export async function setNote(event: Marked, text: string): Promise<void> {
  const note = text.trim() === '' ? null : text.trim();
  if (note === event.note) return;
  await change(event, { note }, note === null ? 'Note removed' : 'Note saved', StickyNote);
}

/** Gives an event another tag; returns the tags that it has then. @throws {Problem} if that fails. */
export async function addTag(event: Marked, tag: string): Promise<string[]> {
  if (event.tags.some((one) => one.toLowerCase() === tag.toLowerCase())) return event.tags;
  return change(event, { tags: [...event.tags, tag] }, `Tagged ${visible(tag)}`, Tag);
}

/** Takes a tag from an event. @throws {Problem} if that fails. */
export async function removeTag(event: Marked, tag: string): Promise<void> {
  const tags = event.tags.filter((one) => one !== tag);
  await change(event, { tags }, `Tag ${visible(tag)} removed`, Tag);
}

/** Makes a change, and offers to undo it. */
async function change(event: Marked, to: MarkChange, said: string, icon: typeof Pin): Promise<string[]> {
  const before: MarkChange = 'note' in to ? { note: event.note } : { tags: [...event.tags] };
  const { tags } = await markEvent(event.id, to);
  toasts.say(said, { icon, undo: () => void putBack(event.id, before) });
  return tags;
}

async function putBack(id: string, before: MarkChange): Promise<void> {
  try {
    await markEvent(id, before);
  } catch (error) {
    const retry = () => void putBack(id, before);
    toasts.fail(`Not undone: ${Problem.of(error).detail}`, { retry });
  }
}
