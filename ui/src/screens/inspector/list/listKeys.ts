import { events } from '../../../state/events.svelte';
import { selection } from '../../../state/selection.svelte';
import { foldSelected, unfoldSelected } from './folding';

/**
 * Handles the list's own keys: arrows up and down, a page of rows, the ends. With Shift they select what they pass.
 * Arrows right and left show repeats and fold them away.
 */
export function listKeys(event: KeyboardEvent, page: number): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const folds = { ArrowRight: unfoldSelected, ArrowLeft: foldSelected }[event.key];
  if (folds && !event.shiftKey && folds()) event.preventDefault();
  const at = events.indexOf(selection.id);
  const to = destination(event.key, at, page);
  if (to === null) return;
  event.preventDefault();
  event.stopPropagation();
  if (event.shiftKey && selection.id) return mark(at, to);
  selection.move(to);
}

function destination(key: string, at: number, page: number): number | null {
  switch (key) {
    case 'ArrowDown':
      return at < 0 ? events.firstInSight : at + 1;
    case 'ArrowUp':
      return at < 0 ? events.firstInSight : at - 1;
    case 'PageDown':
      return at + page;
    case 'PageUp':
      return at - page;
    case 'Home':
      return 0;
    case 'End':
      return events.length - 1;
    default:
      return null;
  }
}

function mark(at: number, to: number): void {
  const row = events.slice(Math.max(0, to), to + 1)[0];
  if (!row) return;
  const start = events.slice(Math.max(0, at), at + 1)[0];
  if (selection.many.size === 0 && start) selection.toggle(start.id);
  selection.range(row.id);
  selection.lead(row.id);
  events.reveal(row.id);
}
