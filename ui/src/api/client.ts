import createClient from 'openapi-fetch';

import type { Problem as ProblemJson } from './shapes';
import { takeAhead } from './ahead';
import type { paths } from './schema.gen';
import { transport } from './transport';

/** An error answer of the API, or a request that got no answer: what happened, and what to do about it. */
export class Problem extends Error {
  readonly code: string;
  readonly status: number;
  readonly hint: string | null;
  /** The setting of a source's own signing scheme that the problem is about. */
  readonly setting: string | null;

  constructor(
    problem: Pick<ProblemJson, 'code' | 'detail' | 'hint' | 'status'> & Partial<Pick<ProblemJson, 'setting'>>,
  ) {
    const { code, detail, hint, status, setting } = problem;
    super(detail);
    this.name = 'Problem';
    this.code = code;
    this.status = status;
    this.hint = hint ?? null;
    this.setting = setting ?? null;
  }

  /** What happened. */
  get detail(): string {
    return this.message;
  }

  /** Returns any error as a problem. */
  static of(error: unknown): Problem {
    if (error instanceof Problem) return error;
    const detail = error instanceof Error ? error.message : String(error);
    return new Problem({ code: 'unreachable', status: 0, detail, hint: 'Is hookmitt running?' });
  }
}

type Watcher = () => void;
const watchers = new Set<Watcher>();

/** Calls `watcher` whenever an answer says that this page is not authorised. */
export function onUnauthorised(watcher: Watcher): void {
  watchers.add(watcher);
}

async function send(request: Request): Promise<Response> {
  const response = await transport.send(request).catch((error: unknown) => {
    if (request.signal.aborted) throw error;
    throw new Problem({
      code: 'unreachable',
      status: 0,
      detail: 'hookmitt does not answer',
      hint: String(error),
    });
  });
  if (response.status === 401) watchers.forEach((watcher) => watcher());
  return response;
}

const origin = typeof location === 'undefined' ? 'http://localhost' : location.origin;

/** The typed API client. Its answers hold `data` or `error`; `ask` returns the data or throws the error. */
export const api = createClient<paths>({ baseUrl: origin, fetch: send });

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns the data of an answer. @throws {Problem} if the answer is an error. */
export async function ask<T>(answer: Promise<Answer<T>>): Promise<NonNullable<T>> {
  const { data, error, response } = await answer;
  if (response.ok) return data as NonNullable<T>;
  throw problem(error, response);
}

function problem(error: unknown, response: Response): Problem {
  if (typeof error === 'object' && error !== null && 'code' in error)
    return new Problem(error as ProblemJson);
  const detail = `the answer was ${response.status}`;
  return new Problem({ code: 'unexpected', status: response.status, detail, hint: null });
}

/** Requests something that is not JSON, such as the bytes of a body. @throws {Problem} if the answer is an error. */
export async function fetchRaw(path: string, init: RequestInit = {}): Promise<Response> {
  const response = (await aheadOf(path, init)) ?? (await send(new Request(origin + path, init)));
  if (response.ok) return response;
  const error: unknown = await response.json().catch(() => null);
  throw problem(error, response);
}

/** Returns what was asked for before, for a plain request. */
async function aheadOf(path: string, { method = 'GET', signal }: RequestInit): Promise<Response | undefined> {
  const response = method === 'GET' ? await takeAhead(path) : undefined;
  signal?.throwIfAborted();
  return response;
}
