import type { Problem } from '../api/client';
import type { Gap } from '../api/shapes';

/** The gaps of a tunnel, newest first, as far as they were read. */
export interface History {
  items: readonly Gap[];
  /** The cursor of the next page; null if the history is complete. */
  next: string | null;
  problem: Problem | null;
}

/** Returns a history whose first page was read again: older gaps stay if the page still connects to them. */
export function readAgain(known: History | undefined, page: History): History {
  const oldest = page.items.at(-1);
  if (!known || page.next === null || !oldest) return page;
  const at = known.items.findIndex(({ id }) => id === oldest.id);
  const older = at < 0 ? [] : known.items.slice(at + 1);
  return older.length > 0 ? { ...page, items: [...page.items, ...older], next: known.next } : page;
}
