import { layout } from '../../../state/layout.svelte';
import { search } from '../../../search/search.svelte';
import { events } from '../../../state/events.svelte';
import { selection } from '../../../state/selection.svelte';
import { enterPane } from '../../shell/panes';
import { foldSelected, unfoldSelected } from './folding';

/** Moves one row down or up; without a selection, to the first visible row. */
function step(by: 1 | -1): void {
  const here = events.indexOf(selection.id);
  selection.move(here < 0 ? events.firstInSight : here + by);
}

/** The keys that act on the list wherever the focus is. */
export const paneKeys = {
  '/': () => document.querySelector<HTMLElement>('[data-search]')?.focus(),
  j: () => step(1),
  k: () => step(-1),
  ArrowDown: (event: KeyboardEvent) => (isNowhere(event) ? step(1) : false),
  ArrowUp: (event: KeyboardEvent) => (isNowhere(event) ? step(-1) : false),
  ArrowRight: (event: KeyboardEvent) => isNowhere(event) && unfoldSelected(),
  ArrowLeft: (event: KeyboardEvent) => isNowhere(event) && foldSelected(),
  Enter: () => selection.id !== null && enterPane('detail'),
  Escape: () => back(),
  x: () => (selection.id ? selection.toggle(selection.id) : false),
  'Shift+x': () => (selection.id ? selection.range(selection.id) : false),
  Space: () => events.toggleLive(),
  '.': () => events.newest(),
};

function isNowhere(event: KeyboardEvent): boolean {
  return event.target === document.body;
}

/** Goes one step back: from the detail pane, or from the search. */
function back(): boolean | void {
  if (layout.form === 'narrow' && selection.id) return selection.show(null);
  if (document.activeElement?.closest('[data-pane="detail"]')) return void enterPane('list');
  if (search.text) return search.clear();
  return false;
}
