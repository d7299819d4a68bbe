import type { Filter } from '../state/filter';
import { fetchRaw } from './client';
import { queryOf } from './events';

/** A term of a search, and where it stands in the text. */
export interface Term {
  /** Columns in UTF-16 code units; a `-` before the term belongs to it. */
  start: number;
  end: number;
  negated: boolean;
  /** With its colon: `type:`, `body./id>`. Null for a text that is looked for everywhere. */
  key: string | null;
  /** As it is typed, with its quotes. */
  value: string;
}

/** What is wrong with a search, and the columns that it is about. */
export interface Fault {
  start: number;
  end: number;
  message: string;
  hint: string | null;
}

/** A way to go on at the caret. */
export interface Suggestion {
  /** What replaces the range. */
  text: string;
  label: string;
  /** A few words that explain it. */
  note: string | null;
  /** How many events have it. */
  count: number | null;
}

/** Suggestions, and the range of the text that each would replace. */
export interface Suggestions {
  start: number;
  end: number;
  items: Suggestion[];
}

/** A search as hookmitt understands it. */
export interface Outline {
  terms: Term[];
  fault: Fault | null;
  /** Texts to mark in what was found, folded. */
  marks: string[];
  suggestions: Suggestions | null;
}

/** A number of events; if it is not exact, there are at least so many. */
export interface Found {
  count: number;
  exact: boolean;
}

/** A search that was kept under a name. */
export interface SavedSearch {
  id: number;
  name: string;
  q: string;
}

/** Returns how a search is understood, and what could follow at `caret`. */
export async function outlineOf(q: string, caret: number, signal?: AbortSignal): Promise<Outline> {
  return get<Outline>(`/api/search?${new URLSearchParams({ q, caret: String(caret) })}`, signal);
}

/** Counts the events that pass a filter. */
export async function countOf(filter: Filter, signal?: AbortSignal): Promise<Found> {
  return get<Found>(`/api/events/count?${queryOf(filter)}`, signal);
}

/** Returns all saved searches. */
export async function listSearches(): Promise<SavedSearch[]> {
  return (await get<{ items: SavedSearch[] }>('/api/searches')).items;
}

/** Saves a search under a name. */
export async function addSearch(search: Omit<SavedSearch, 'id'>): Promise<SavedSearch> {
  return (await send('POST', '/api/searches', search)).json() as Promise<SavedSearch>;
}

/** Changes a saved search. */
export async function changeSearch(id: number, change: Partial<Omit<SavedSearch, 'id'>>): Promise<void> {
  await send('PATCH', `/api/searches/${id}`, change);
}

/** Removes a saved search. */
export async function removeSearch(id: number): Promise<void> {
  await send('DELETE', `/api/searches/${id}`);
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await fetchRaw(path, signal ? { signal } : {})).json() as Promise<T>;
}

function send(method: string, path: string, body?: object): Promise<Response> {
  const json = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  return fetchRaw(path, { method, ...json });
}
