import { type Filter, filterOf, queryOf } from '../state/filter';
import { read } from '../state/kept';
import { FIRST } from '../state/pages';
import { parse } from '../state/place';
import { transport } from './transport';

// What the page asks for while most of its code is still loading. This module is loaded first, so it uses little else.

type Opened = Awaited<ReturnType<typeof transport.open>>;

let opening: Promise<Opened> | undefined;
const asked = new Map<string, Promise<Response>>();

/** Prepares for the first request, once. */
export function opened(): Promise<Opened> {
  return (opening ??= transport.open().catch(() => 'closed' as const));
}

/** Returns the path of a part of a list. */
export function listPath(filter: Filter, limit: number, cursor?: string | number | null): string {
  const query = queryOf(filter);
  query.set('glance', 'true');
  query.set('limit', String(limit));
  if (cursor != null) query.set('cursor', String(cursor));
  return `/api/events?${query}`;
}

/** Asks for the first rows of the list that the page's URL names; doesn't wait for them. */
export async function askAhead(): Promise<void> {
  const place = parse(location.hash);
  if ((await opened()) !== 'opened' || place.screen !== 'events' || place.view === 'trash') return;
  const path = listPath(filterOf(place, read().repeats), FIRST);
  const answer = transport.send(new Request(location.origin + path));
  answer.catch(() => undefined); // whoever takes it asks again
  asked.set(path, answer);
}

/** Returns the answer that was asked for ahead, and forgets it; undefined if there is none, or it failed. */
export async function takeAhead(path: string): Promise<Response | undefined> {
  const answer = asked.get(path);
  asked.delete(path);
  const response = await answer?.catch(() => undefined);
  return response?.ok ? response : undefined;
}
