import { type Filter, queryOf } from '../state/filter';
import { api, ask, fetchRaw } from './client';
import type { components } from './schema.gen';

type Schemas = components['schemas'];

/** A term of a search, and where it stands in the text, in UTF-16 code units. */
export type Term = Schemas['TermJson'];

/** What is wrong with a search, and the columns that it is about. */
export type Fault = Schemas['FaultJson'];

/** A way to go on at the caret. */
export type Suggestion = Schemas['Suggestion'];

/** Suggestions, and the range of the text that each would replace. */
export type Suggestions = Schemas['Suggestions'];

/** A search as hookmitt understands it. */
export type Outline = Schemas['SearchJson'];

/** A number of events; if it is not exact, there are at least so many. */
export type Found = Schemas['Counted'];

/** A search that was kept under a name. */
export type SavedSearch = Schemas['SavedSearchView'];

/** Returns how a search is understood, and what could follow at `caret`. */
export function outlineOf(q: string, caret: number, signal?: AbortSignal): Promise<Outline> {
  return ask(api.GET('/api/search', { params: { query: { q, caret } }, ...(signal ? { signal } : {}) }));
}

/** Counts the events that pass a filter. */
export async function countOf(filter: Filter, signal?: AbortSignal): Promise<Found> {
  const answer = await fetchRaw(`/api/events/count?${queryOf(filter)}`, signal ? { signal } : {});
  return answer.json() as Promise<Found>;
}

/** Returns all saved searches. */
export async function listSearches(): Promise<SavedSearch[]> {
  return (await ask(api.GET('/api/searches'))).items;
}

/** Saves a search under a name. */
export function addSearch(body: Schemas['NewSearch']): Promise<SavedSearch> {
  return ask(api.POST('/api/searches', { body }));
}

/** Changes a saved search. */
export async function changeSearch(id: number, body: Schemas['SearchChange']): Promise<void> {
  await ask(api.PATCH('/api/searches/{id}', { params: { path: { id } }, body }));
}

/** Removes a saved search. */
export async function removeSearch(id: number): Promise<void> {
  await ask(api.DELETE('/api/searches/{id}', { params: { path: { id } } }));
}
