import type { Event, EventStatus, Verdict, View } from '../api/shapes';

/** Decides which events are listed. */
export interface Filter {
  view?: View;
  source?: string;
  type?: string;
  verdict?: Verdict;
  status?: EventStatus;
  /** Only events received at this time or later, RFC 3339. */
  since?: string;
  /** Only events received before this time, RFC 3339. */
  until?: string;
  /** Only events that contain this text anywhere. */
  q?: string;
  /** Leave out repeats that fold and whose first event is listed. */
  fold?: boolean;
}

const views: Record<View, (event: Event) => boolean> = {
  needs_action: ({ verdict, status }) =>
    verdict === 'invalid' || status === 'dead_letter' || status === 'failed',
  invalid: ({ verdict }) => verdict === 'invalid',
  dead_letter: ({ status }) => status === 'dead_letter',
  waiting: ({ glance }) => glance?.delivery?.waiting === true,
};

/** Whether an event is listed, unless it is folded away; null if only the API can tell, because the text may be in the body. */
export function matches(filter: Filter, event: Event): boolean | null {
  const at = Date.parse(event.received_at);
  const fits =
    (!filter.view || views[filter.view](event)) &&
    (!filter.source || filter.source === event.source) &&
    (!filter.verdict || filter.verdict === event.verdict) &&
    (!filter.status || filter.status === event.status) &&
    (!filter.type || isKind(filter.type, event.type)) &&
    (!filter.since || at >= Date.parse(filter.since)) &&
    (!filter.until || at < Date.parse(filter.until));
  if (!fits) return false;
  return filter.q ? null : true;
}

/** Matches an event type against a type, its beginning up to a dot, or a pattern with `*`. Null never matches. */
function isKind(pattern: string, type: string | null): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return type !== null && new RegExp(`^${parts.join('.*')}\\.`, 's').test(`${type}.`);
}
