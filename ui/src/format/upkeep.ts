import type { Stats } from '../api/shapes';
import { count } from './count';

/** So many events may be missing in the search index at any time: they were just stored. */
const FRESH = 1_000;

/** Says how far the search index is, `Indexing: 12,340 of 1,000,000`; null if it is up to date. */
export function indexing(upkeep: Stats['upkeep'] | undefined): string | null {
  if (!upkeep || upkeep.last - (upkeep.indexed ?? 0) <= FRESH) return null;
  return `Indexing: ${count(upkeep.indexed ?? 0)} of ${count(upkeep.last)}`;
}
