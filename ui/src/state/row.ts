import type { Cause, Event, GlanceDelivery, Verdict } from '../api/shapes';
import { eventName, visible } from '../format/words';

/** What the list keeps of an event. It has no headers, so that thousands of rows need little memory. */
export interface Row {
  id: string;
  seq: number;
  receivedAt: string;
  /** `receivedAt` in milliseconds. */
  at: number;
  source: string;
  provider: string | null;
  name: string;
  subject: string;
  verdict: Verdict;
  /** The likeliest reason why the signature is invalid. */
  cause: Cause | undefined;
  copies: number;
  /** Not all copies have the same bytes. */
  differs: boolean;
  /** How many of its copies fold away beneath it. */
  folded: number;
  /** The first of its copies; null if it is the first itself. */
  first: string | null;
  /** It folds away beneath the first. */
  folds: boolean;
  /** It repeats the first with other bytes. */
  conflicts: boolean;
  stale: boolean;
  edited: boolean;
  handshake: boolean;
  browser: boolean;
  /** The Host name of the request, if that is why the event was not forwarded. */
  calledAs: string | null;
  via: Event['via'];
  pinned: boolean;
  noted: boolean;
  tags: readonly string[];
  size: number;
  delivery: GlanceDelivery | null;
}

/** Makes the row of an event. Invisible characters in names from strangers are made visible. */
export function rowOf(event: Event): Row {
  const { glance } = event;
  return {
    id: event.id,
    seq: event.seq,
    receivedAt: event.received_at,
    at: Date.parse(event.received_at),
    source: event.source,
    provider: event.provider,
    name: visible(eventName(event)),
    subject: visible(subjectOf(event)),
    verdict: event.verdict,
    cause: event.causes[0],
    copies: glance?.copies ?? 1,
    differs: glance?.copies_differ ?? event.conflict,
    folded: glance?.folded ?? 0,
    first: event.duplicate_of,
    folds: glance?.folds ?? false,
    conflicts: event.duplicate_of !== null && event.conflict,
    stale: event.stale,
    edited: event.parent !== null,
    handshake: event.handshake !== null,
    browser: event.browser,
    calledAs: event.withheld?.host ? visible(event.withheld.host) : null,
    via: event.via,
    pinned: event.pinned,
    noted: event.note !== null,
    tags: event.tags,
    size: event.size,
    delivery: glance?.delivery ?? null,
  };
}

/** Returns the event's title, else its content type if its name is only the request line. */
function subjectOf(event: Event): string {
  if (event.title) return event.title;
  if (event.type !== null) return '';
  const kind = event.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1];
  return typeof kind === 'string' ? (kind.split(';')[0] ?? '') : '';
}
