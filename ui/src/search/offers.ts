import type { Suggestion, Suggestions } from '../api/search';

/** A line of the list below the search field: a suggestion, or an earlier search. */
export interface Offer extends Suggestion {
  /** It replaces the whole search. */
  isRecent: boolean;
}

/** How many earlier searches are offered beside suggestions. */
const FEW = 5;

/** Returns what is offered: in an empty field earlier searches first, then what hookmitt suggests. */
export function offersOf(
  suggestions: Suggestions | null,
  recent: readonly string[],
  isEmpty: boolean,
): Offer[] {
  const suggested = (suggestions?.items ?? []).map((item) => ({ ...item, isRecent: false }));
  if (!isEmpty) return suggested;
  const most = suggested.length > 0 ? FEW : recent.length;
  const earlier = recent
    .slice(0, most)
    .map((text) => ({ text, label: text, note: null, count: null, isRecent: true }));
  return [...earlier, ...suggested];
}
