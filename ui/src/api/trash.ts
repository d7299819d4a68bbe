import { api, ask } from './client';
import { countOf, type Found } from './search';
import type { Event, Job } from './shapes';

/** A page of the trash. */
export interface TrashPage {
  items: Event[];
  next_cursor: string | null;
}

/** Returns a page of the trash, the last deleted first. */
export async function listTrash(cursor: string | null, limit: number): Promise<TrashPage> {
  const query = cursor === null ? { limit } : { limit, cursor };
  return (await ask(api.GET('/api/trash', { params: { query } }))) as TrashPage;
}

/** Counts what is in the trash. */
export function countTrash(): Promise<Found> {
  return countOf({ q: 'is:deleted' });
}

/** What was deleted for good, and what stays because it is being sent. */
export interface Gone {
  gone: number;
  stay: number;
}

/** Deletes an event of the trash for good. */
export function deleteForGood(id: string): Promise<Gone> {
  return ask(api.DELETE('/api/trash/{id}', { params: { path: { id } } }));
}

/** Begins to delete for good what is in the trash by now. */
export async function emptyTrash(): Promise<void> {
  const before = new Date().toISOString();
  await ask(api.POST('/api/trash/empty', { body: { before } }));
}

/** Begins to move the events that a search finds to the trash. */
export async function deleteFound(q: string): Promise<Job> {
  const { job } = (await ask(api.POST('/api/delete', { body: { q } }))) as { job: Job };
  return job;
}

/** Begins to restore everything in the trash. */
export async function restoreAll(): Promise<void> {
  await ask(api.POST('/api/restore', { body: { q: 'is:deleted' } }));
}
