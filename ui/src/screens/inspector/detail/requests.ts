import { api, ask, fetchRaw } from '../../../api/client';
import type { Event } from '../../../api/shapes';
import type { Check } from './logic/verdict';

/** All requests of the detail pane. */

/** Returns an event with its deliveries. */
export function showEvent(id: string, signal: AbortSignal): Promise<Event> {
  return json('GET', `/api/events/${encodeURIComponent(id)}`, { signal });
}

/** Verifies an event with the current secrets. */
export async function checkEvent(id: string, signal: AbortSignal): Promise<Check> {
  return json('POST', `/api/events/${encodeURIComponent(id)}/verify`, { signal, body: {} });
}

/** Bytes of a body, and the body's length. */
export interface Piece {
  bytes: Uint8Array;
  total: number;
}

/** Returns the bytes from `from` to before `to`, or all bytes if `range` is null. */
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

/** A delivery that a request created or restarted. */
export interface Asked {
  event_id: string;
  delivery_id: string;
}

/** How to re-sign a replay: with a fresh timestamp and, if asked for, a fresh id. Null replays it unchanged. */
export type Resign = { freshId: boolean } | null;

/** Replays an event to its source's targets, or once to a URL. */
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

/** Moves an event out of `unassigned` into a source, and returns it as it is there. */
export async function move(id: string, source: string): Promise<Event> {
  const asked = { params: { path: { id } }, body: { source } };
  return (await ask(api.POST('/api/events/{id}/move', asked))) as Event;
}

/** Stores the secret that a set-up request delivers. */
export function saveSecret(id: string): Promise<{ source: string; label: string }> {
  return json('POST', `/api/events/${encodeURIComponent(id)}/save-secret`, { body: {} });
}

/** Calls the URL that a set-up request asks to be called. */
export function confirmEvent(id: string): Promise<{ host: string; status: number }> {
  return json('POST', `/api/events/${encodeURIComponent(id)}/confirm`, {});
}

/** Queues an event's failed, dead-letter and skipped deliveries again. */
export async function retry(id: string): Promise<Asked[]> {
  return (await ask(api.POST('/api/events/{id}/retry', { params: { path: { id } } }))).items;
}

/** Queues one failed, dead-letter or skipped delivery again. */
export async function retryOne(delivery: string): Promise<Asked[]> {
  const path = { id: delivery };
  return (await ask(api.POST('/api/deliveries/{id}/retry', { params: { path } }))).items;
}

/** Allows a host name for a source. */
export async function allowHost(source: string, host: string): Promise<void> {
  await json('PATCH', `/api/sources/${source}`, { body: { allowed_hosts: { [host]: true } } });
}

/** A host name under which events were withheld, and how many of them are still unsent. */
export interface WithheldHost {
  host: string;
  events: number;
  /** Whether the name is allowed now. */
  allowed: boolean;
}

/** Returns the host names under which a source's events were withheld. */
export async function withheldHosts(source: string): Promise<WithheldHost[]> {
  return (await ask(api.GET('/api/sources/{slug}/withheld', { params: { path: { slug: source } } }))).items;
}

/** Sends the events that were withheld under a host name that is allowed now. */
export async function sendWithheld(source: string, host: string): Promise<Asked[]> {
  return (await json<{ items: Asked[] }>('POST', '/api/retry', { body: { source, withheld_host: host } }))
    .items;
}

/** Waits for the outcome of a delivery's first attempt. */
export function outcomeOf(id: string) {
  return ask(api.GET('/api/deliveries/{id}/outcome', { params: { path: { id } } }));
}

/** Makes hookmitt try a target that is down at once. */
export async function tryTarget(id: number): Promise<void> {
  await fetchRaw(`/api/targets/${id}/try`, { method: 'POST' });
}

/** Resumes a paused target. */
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
