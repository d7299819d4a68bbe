import type { Problem } from '../api/client';
import type { Gap } from '../api/shapes';

/** When a tunnel was offline, newest first, as far as it was read. */
export interface History {
  items: readonly Gap[];
  /** Where it goes on; null: it is whole. */
  next: string | null;
  problem: Problem | null;
}

/** A past whose first page was read again: what was read on before stays, where the page leads to it. */
export function readAgain(known: History | undefined, page: History): History {
  const oldest = page.items.at(-1);
  if (!known || page.next === null || !oldest) return page;
  const at = known.items.findIndex(({ id }) => id === oldest.id);
  const older = at < 0 ? [] : known.items.slice(at + 1);
  return older.length > 0 ? { ...page, items: [...page.items, ...older], next: known.next } : page;
}
