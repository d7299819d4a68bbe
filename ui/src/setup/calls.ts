/** The API calls of set-up. Each rejects with a {@link Problem}, whose message and hint are meant for users. */

import { sentence } from '../format/words';
import { api, ask, fetchRaw, Problem } from '../api/client';
import type { components } from '../api/schema.gen';
import { secretBody } from './secret';
import type {
  Check,
  Provider,
  SecretEntry,
  Sent,
  SourceChange,
  SourceView,
  TargetChange,
  TargetView,
  TestKey,
} from './types';

type Schemas = components['schemas'];

/** Returns all secrets without their values. */
export async function listSecrets(): Promise<SecretEntry[]> {
  return (await ask(api.GET('/api/secrets'))).items as SecretEntry[];
}

/** Returns the catalogue's providers, most used first. */
export async function listProviders(): Promise<Provider[]> {
  return (await ask(api.GET('/api/providers'))).items as Provider[];
}

/** Returns the checks of the running program. */
export async function listChecks(): Promise<Check[]> {
  return (await ask(api.GET('/api/doctor'))).checks;
}

/** Adds a source. */
export function addSource(slug: string, change: SourceChange): Promise<SourceView> {
  return ask(api.POST('/api/sources', { body: { slug, ...change } })) as Promise<SourceView>;
}

/** Changes a source; absent settings stay. */
export function changeSource(slug: string, change: SourceChange): Promise<SourceView> {
  const body = change as Schemas['SourceChange'];
  return ask(api.PATCH('/api/sources/{slug}', { params: { path: { slug } }, body })) as Promise<SourceView>;
}

/** Removes a source with its secrets and targets. */
export async function removeSource(slug: string): Promise<void> {
  await ask(api.DELETE('/api/sources/{slug}', { params: { path: { slug } } }));
}

/** Stores a secret; creates its source if it is new. */
export async function setSecret(slug: string, label: string, text: string): Promise<void> {
  const body = { ...secretBody(text), create: true } as Schemas['NewSecret'];
  await ask(api.PUT('/api/sources/{slug}/secrets/{label}', { params: { path: { slug, label } }, body }));
}

/** Removes a secret for good. */
export async function removeSecret(slug: string, label: string): Promise<void> {
  await ask(api.DELETE('/api/sources/{slug}/secrets/{label}', { params: { path: { slug, label } } }));
}

/** Returns the public half of a source's local test key pair; null if it has none. */
export async function testKeyOf(slug: string): Promise<TestKey | null> {
  const answer = await fetchRaw(`/api/sources/${slug}/test-key`);
  return (await answer.json()) as TestKey | null;
}

/** Makes a local test key pair, which replaces an earlier one. */
export function makeTestKey(slug: string): Promise<TestKey> {
  return ask(api.POST('/api/sources/{slug}/test-key', { params: { path: { slug } } }));
}

/** Adds a target; creates its source if it is new. */
export function addTarget(source: string | null, change: TargetChange): Promise<TargetView> {
  return ask(api.POST('/api/targets', { body: { source, create: true, ...change } }));
}

/** Changes, pauses or resumes a target; absent settings stay. */
export function changeTarget(id: number, change: TargetChange): Promise<TargetView> {
  const body = change as Schemas['TargetChange'];
  return ask(api.PATCH('/api/targets/{id}', { params: { path: { id } }, body }));
}

/** Removes a target. With `leaving`, the request outlives the page. */
export async function removeTarget(id: number, { leaving = false } = {}): Promise<void> {
  await ask(api.DELETE('/api/targets/{id}', { params: { path: { id } }, keepalive: leaving }));
}

/** Makes hookmitt try a target again that is paused or down. */
export async function tryTarget(id: number): Promise<void> {
  await ask(api.POST('/api/targets/{id}/try', { params: { path: { id } } }));
}

/** Whether a server answers at a target's port. Rejects with words for the user if the URL can't be a target. */
export async function probeTarget(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await ask(api.POST('/api/targets/probe', { body: { url }, signal }))).answers;
  } catch (error) {
    throw new Error(inWords(Problem.of(error)));
  }
}

/** Signs a sample event as its provider would, and posts it to a source through the capture port. */
export function sendSample(provider: string, source: string, to: string): Promise<Sent> {
  const body = { provider, source, to } as Schemas['SampleRequest'];
  return ask(api.POST('/api/send', { body }));
}

/** Returns a problem and its hint as one text. */
export function inWords(problem: Problem): string {
  const first = sentence(problem.message);
  return problem.hint === null ? first : `${first} ${sentence(problem.hint)}`;
}
