import type { View } from '../api/shapes';

/** Decides which events are listed. Only hookmitt judges whether an event passes it. */
export interface Filter {
  view?: View;
  source?: string;
  /** A search, in the search language. */
  q?: string;
  /** Leave out repeats that fold and whose first event is listed. */
  fold?: boolean;
}
