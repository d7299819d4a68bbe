import { api, ask, fetchRaw } from '../../../api/client';
import type { Event } from '../../../api/shapes';
import type { Check } from './logic/verdict';

/** Every request of the detail pane, by what it is for. */

/** An event with its deliveries. */
export function showEvent(id: string, signal: AbortSignal): Promise<Event> {
  return json('GET', `/api/events/${encodeURIComponent(id)}`, { signal });
}

/** What verification finds with the secrets as they are now. */
export async function checkEvent(id: string, signal: AbortSignal): Promise<Check> {
  return json('POST', `/api/events/${encodeURIComponent(id)}/verify`, { signal, body: {} });
}

/** Copies of an event, oldest first, the first included. */
export interface CopyList {
  items: Event[];
  total: number;
}

/** Every event with the same first: a hundred at most. */
export async function copiesOf(id: string, signal: AbortSignal): Promise<CopyList> {
  return json('GET', `/api/events/${encodeURIComponent(id)}/copies`, { signal });
}

/** Bytes of a body, and how many there are in all. */
export interface Piece {
  bytes: Uint8Array;
  total: number;
}

/** The bytes from `from` up to `to`, or all of them. */
export async function bodyOf(
  id: string,
  range: [from: number, to: number] | null,
  signal?: AbortSignal,
): Promise<Piece> {
  const headers: Record<string, string> = range ? { range: `bytes=${range[0]}-${range[1] - 1}` } : {};
  const init: RequestInit = signal ? { headers, signal } : { headers };
  const response = await fetchRaw(`/api/events/${encodeURIComponent(id)}/body`, init);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const total = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1];
  return { bytes, total: total ? Number(total) : bytes.length };
}

/** A delivery that was asked for. */
export interface Asked {
  event_id: string;
  delivery_id: string;
}

/** Signing anew for a replay: with a fresh timestamp, and with a fresh id where that is asked for; null: as it was. */
export type Resign = { freshId: boolean } | null;

/** Delivers an event again: to its source's targets, or once to a URL. */
export async function replay(id: string, to: string | null, resign: Resign): Promise<Asked[]> {
  const body = {
    ...(to ? { to } : {}),
    ...(resign ? { resign: true, ...(resign.freshId ? { fresh_id: true } : {}) } : {}),
  };
  const answer = await json<{ items: Asked[] }>('POST', `/api/events/${encodeURIComponent(id)}/replay`, {
    body,
  });
  return answer.items;
}

/** Keeps the secret that a set-up request delivers. */
export function saveSecret(id: string): Promise<{ source: string; label: string }> {
  return json('POST', `/api/events/${encodeURIComponent(id)}/save-secret`, { body: {} });
}

/** Calls the URL that a set-up request wants called. */
export function confirmEvent(id: string): Promise<{ host: string; status: number }> {
  return json('POST', `/api/events/${encodeURIComponent(id)}/confirm`, {});
}

/** Makes what failed, died or was skipped wait again. */
export async function retry(id: string): Promise<Asked[]> {
  return (await ask(api.POST('/api/events/{id}/retry', { params: { path: { id } } }))).items;
}

/** Makes one delivery that failed, died or was skipped wait again. */
export async function retryOne(delivery: string): Promise<Asked[]> {
  const path = { id: delivery };
  return (await ask(api.POST('/api/deliveries/{id}/retry', { params: { path } }))).items;
}

/** Allows a host name for a source. */
export async function allowHost(source: string, host: string): Promise<void> {
  await json('PATCH', `/api/sources/${source}`, { body: { allowed_hosts: { [host]: true } } });
}

/** A name under which events were withheld, and how many wait to be sent. */
export interface WithheldHost {
  host: string;
  events: number;
  /** Whether it counts as a name of ours by now. */
  allowed: boolean;
}

/** The names under which events of a source were withheld. */
export async function withheldHosts(source: string): Promise<WithheldHost[]> {
  return (await ask(api.GET('/api/sources/{slug}/withheld', { params: { path: { slug: source } } }))).items;
}

/** Sends what was withheld under a name that is allowed by now. */
export async function sendWithheld(source: string, host: string): Promise<Asked[]> {
  return (await json<{ items: Asked[] }>('POST', '/api/retry', { body: { source, withheld_host: host } }))
    .items;
}

/** What came of a delivery's first attempt, once something did. */
export function outcomeOf(id: string) {
  return ask(api.GET('/api/deliveries/{id}/outcome', { params: { path: { id } } }));
}

/** Asks a target that is down again at once. */
export async function tryTarget(id: number): Promise<void> {
  await fetchRaw(`/api/targets/${id}/try`, { method: 'POST' });
}

/** Ends a pause by hand. */
export async function resumeTarget(id: number): Promise<void> {
  await json('PATCH', `/api/targets/${id}`, { body: { paused: false } });
}

interface Sent {
  body?: unknown;
  signal?: AbortSignal;
}

async function json<T>(method: string, path: string, { body, signal }: Sent): Promise<T> {
  const init: RequestInit = { method };
  if (signal) init.signal = signal;
  if (body !== undefined)
    Object.assign(init, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  return (await (await fetchRaw(path, init)).json()) as T;
}
