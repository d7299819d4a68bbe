import { api, ask } from './client';
import type { components } from './schema.gen';
import type { Event } from './shapes';

/** A change of pin, note or tags; what is absent stays as it is. */
export type MarkChange = components['schemas']['MarkChange'];

/** A tag, and how many events have it. */
export type Tag = components['schemas']['TagJson'];

/** Changes an event's pin, note or tags. Returns the event. */
export async function markEvent(id: string, change: MarkChange): Promise<Event> {
  return (await ask(api.PATCH('/api/events/{id}', { params: { path: { id } }, body: change }))) as Event;
}

/** Returns all tags, sorted. */
export async function listTags(): Promise<Tag[]> {
  return (await ask(api.GET('/api/tags'))).items;
}
