import type { View } from '../api/shapes';
import type { EventsPlace } from './place';

/** Decides which events are listed. Only hookmitt judges whether an event passes it. */
export interface Filter {
  view?: View;
  source?: string;
  /** A search, in the search language. */
  q?: string;
  /** Leave out repeats that fold and whose first event is listed. */
  fold?: boolean;
}

/** Returns the filter of a place: its view or source, and its search. In a view, each event needs attention: none folds. */
export function filterOf({ view, source, q }: EventsPlace, repeats: 'folded' | 'listed'): Filter {
  const filter: Filter = {};
  if (view) filter.view = view as View;
  if (source) filter.source = source;
  if (q) filter.q = q;
  if (!view && repeats === 'folded') filter.fold = true;
  return filter;
}

/** Returns a filter as parameters of a request. */
export function queryOf(filter: Filter): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value) query.set(name, String(value));
  return query;
}

/** Whether two filters let the same events pass. */
export function isSame(one: Filter, other: Filter): boolean {
  return queryOf(one).toString() === queryOf(other).toString();
}
