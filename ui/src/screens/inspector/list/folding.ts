import { announcer } from '../../../state/announcer.svelte';
import { counted } from '../../../format/count';
import { events } from '../../../state/events.svelte';
import type { Row } from '../../../state/row';
import { selection } from '../../../state/selection.svelte';

/** Shows the repeats of the selected event beneath it. Returns false if there is nothing to show. */
export function unfoldSelected(): boolean {
  const row = selection.id === null ? undefined : events.row(selection.id);
  if (!row || !events.foldable(row) || events.isOpen(row.id)) return false;
  unfold(row);
  return true;
}

/** Folds the repeats of the selected event away; of a selected repeat, those of its first, which is selected then. */
export function foldSelected(): boolean {
  const row = selection.id === null ? undefined : events.row(selection.id);
  const first = row?.first ?? row?.id;
  if (first === undefined || !events.isOpen(first)) return false;
  fold(first);
  return true;
}

/** Shows the repeats of an event beneath it, or folds them away. */
export function toggleRepeats(row: Row): void {
  if (events.isOpen(row.id)) fold(row.id);
  else unfold(row);
}

function unfold(row: Row): void {
  void events.unfold(row.id);
  announcer.say(`${counted(row.folded, 'repeat')} shown`);
}

function fold(first: string): void {
  const shown = selection.id === null ? undefined : events.row(selection.id);
  events.fold(first);
  announcer.say('Repeats folded away');
  if (shown?.first !== first) return;
  selection.show(first);
  events.reveal(first);
}
