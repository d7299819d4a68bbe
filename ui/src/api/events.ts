import type { Filter } from '../state/filter';
import { ask, api, fetchRaw } from './client';
import type { Event } from './shapes';

/** A page of events. */
export interface EventPage {
  items: Event[];
  next_cursor: string | null;
}

interface Piece {
  /** Only events with a lower number. */
  before?: number | null;
  limit: number;
  signal?: AbortSignal;
}

/** Events that pass the filter, newest first. */
export async function listEvents(filter: Filter, { before, limit, signal }: Piece): Promise<EventPage> {
  const query = new URLSearchParams({ glance: 'true', limit: String(limit) });
  for (const [name, value] of Object.entries(filter)) if (value) query.set(name, String(value));
  if (before != null) query.set('cursor', String(before));
  const response = await fetchRaw(`/api/events?${query}`, signal ? { signal } : {});
  return (await response.json()) as EventPage;
}

/** Puts an event in the bin. */
export async function deleteEvent(id: string): Promise<void> {
  await ask(api.DELETE('/api/events/{id}', { params: { path: { id } } }));
}

/** Brings an event back. */
export async function restoreEvent(id: string): Promise<void> {
  await ask(api.POST('/api/events/{id}/restore', { params: { path: { id } } }));
}

/** Delivers an event again, as it was; answers how many deliveries that made. */
export async function replayEvent(id: string): Promise<number> {
  const { items } = await ask(api.POST('/api/events/{id}/replay', { params: { path: { id } }, body: {} }));
  return items.length;
}
