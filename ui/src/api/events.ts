import type { Filter } from '../state/filter';
import { listPath } from './ahead';
import { ask, api, fetchRaw } from './client';
import type { Event } from './shapes';

/** A page of events. */
export interface EventPage {
  items: Event[];
  next_cursor: string | null;
  /** The number down to which was searched, if the page ended before it was full because that takes long. */
  searched_to: number | null;
}

/** Which part of a list is read. */
export interface Piece {
  /** Where the page before this one ended: its `next_cursor`, or the number of its last event. */
  cursor?: string | number | null;
  limit: number;
  signal?: AbortSignal;
}

/** Returns a page of events that pass the filter, newest first. */
export async function listEvents(filter: Filter, { cursor, limit, signal }: Piece): Promise<EventPage> {
  const response = await fetchRaw(listPath(filter, limit, cursor), signal ? { signal } : {});
  return (await response.json()) as EventPage;
}

/** Copies of an event, oldest first, including the first one. */
export interface CopyList {
  items: Event[];
  /** How many copies there are. */
  total: number;
}

/** Returns an event's copies: all events with the same first event, at most `limit`. */
export async function copiesOf(id: string, limit: number, signal?: AbortSignal): Promise<CopyList> {
  const asked = { params: { path: { id }, query: { limit } }, ...(signal ? { signal } : {}) };
  return (await ask(api.GET('/api/events/{id}/copies', asked))) as CopyList;
}

/** Moves an event to the bin. Returns how many of its deliveries waited, and are ended. */
export async function deleteEvent(id: string): Promise<number> {
  const { ended } = await ask(api.DELETE('/api/events/{id}', { params: { path: { id } } }));
  return ended;
}

/** Restores an event from the bin. */
export async function restoreEvent(id: string): Promise<void> {
  await ask(api.POST('/api/events/{id}/restore', { params: { path: { id } } }));
}

/** Replays an event unchanged; returns how many deliveries that created. */
export async function replayEvent(id: string): Promise<number> {
  const { items } = await ask(api.POST('/api/events/{id}/replay', { params: { path: { id } }, body: {} }));
  return items.length;
}
