/** What set-up asks of the API. Each rejects with a {@link Problem}, whose message and hint are words for people. */

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

/** Every secret without its value. */
export async function listSecrets(): Promise<SecretEntry[]> {
  return (await ask(api.GET('/api/secrets'))).items as SecretEntry[];
}

/** The catalogue's providers, most used first. */
export async function listProviders(): Promise<Provider[]> {
  return (await ask(api.GET('/api/providers'))).items as Provider[];
}

/** What was checked of the running program. */
export async function listChecks(): Promise<Check[]> {
  return (await ask(api.GET('/api/doctor'))).checks;
}

/** Makes a source. */
export function addSource(slug: string, change: SourceChange): Promise<SourceView> {
  return ask(api.POST('/api/sources', { body: { slug, ...change } })) as Promise<SourceView>;
}

/** Changes a source; what is absent stays. */
export function changeSource(slug: string, change: SourceChange): Promise<SourceView> {
  const body = change as Schemas['SourceChange'];
  return ask(api.PATCH('/api/sources/{slug}', { params: { path: { slug } }, body })) as Promise<SourceView>;
}

/** Removes a source with its secrets and targets. */
export async function removeSource(slug: string): Promise<void> {
  await ask(api.DELETE('/api/sources/{slug}', { params: { path: { slug } } }));
}

/** Keeps a secret; its source is made where it is new. */
export async function setSecret(slug: string, label: string, text: string): Promise<void> {
  const body = secretBody(text) as Schemas['NewSecret'];
  await ask(api.PUT('/api/sources/{slug}/secrets/{label}', { params: { path: { slug, label } }, body }));
}

/** Removes a secret for good. */
export async function removeSecret(slug: string, label: string): Promise<void> {
  await ask(api.DELETE('/api/sources/{slug}/secrets/{label}', { params: { path: { slug, label } } }));
}

/** The local test key pair of a source, by its public half; null where it has none. */
export async function testKeyOf(slug: string): Promise<TestKey | null> {
  const answer = await fetchRaw(`/api/sources/${slug}/test-key`);
  return (await answer.json()) as TestKey | null;
}

/** Makes a local test key pair; an earlier one goes. */
export function makeTestKey(slug: string): Promise<TestKey> {
  return ask(api.POST('/api/sources/{slug}/test-key', { params: { path: { slug } } }));
}

/** Adds a target; its source is made where it is new. */
export function addTarget(source: string | null, change: TargetChange): Promise<TargetView> {
  return ask(api.POST('/api/targets', { body: { source, ...change } }));
}

/** Changes, pauses or resumes a target; what is absent stays. */
export function changeTarget(id: number, change: TargetChange): Promise<TargetView> {
  const body = change as Schemas['TargetChange'];
  return ask(api.PATCH('/api/targets/{id}', { params: { path: { id } }, body }));
}

/** Removes a target. `leaving`: the page goes away, and the request must outlive it. */
export async function removeTarget(id: number, { leaving = false } = {}): Promise<void> {
  await ask(api.DELETE('/api/targets/{id}', { params: { path: { id } }, keepalive: leaving }));
}

/** Asks a target again that was paused, or where nobody answered. */
export async function tryTarget(id: number): Promise<void> {
  await ask(api.POST('/api/targets/{id}/try', { params: { path: { id } } }));
}

/** Whether somebody answers at a target's port. Rejects in words where it can't be a target. */
export async function probeTarget(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await ask(api.POST('/api/targets/probe', { body: { url }, signal }))).answers;
  } catch (error) {
    throw new Error(inWords(Problem.of(error)));
  }
}

/** Signs a sample of a provider and posts it to a source through the capture port, as the provider would. */
export function sendSample(provider: string, source: string, to: string): Promise<Sent> {
  const body = { provider, source, to } as Schemas['SampleRequest'];
  return ask(api.POST('/api/send', { body }));
}

/** What is wrong, and what to do, in one text. */
export function inWords(problem: Problem): string {
  const first = sentence(problem.message);
  return problem.hint === null ? first : `${first} ${sentence(problem.hint)}`;
}

/** The API's words as a sentence, with apostrophes that curl. A URL or a host at its start stays as it is. */
export function sentence(text: string): string {
  const trimmed = text.trim().replace(/(?<=[a-z])'(?=[a-z])/g, '’');
  const isAddress = /^[a-z]+:\/\/|^\S+\.\S/.test(trimmed);
  const whole = isAddress ? trimmed : trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.?!:]$/.test(whole) ? whole : `${whole}.`;
}
