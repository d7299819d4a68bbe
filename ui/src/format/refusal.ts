import type { Refusal } from '../state/refusals.svelte';

interface Words {
  /** Why, in two or three words. */
  why: string;
  /** What to do about it. */
  todo: string;
}

const CODES: Record<string, Words> = {
  'disk-full': {
    why: 'Disk full',
    todo: 'Free some space, or shorten retention. Most providers send again.',
  },
  'not-stored': { why: 'Not stored', todo: 'Look at the log for the reason. Most providers send again.' },
  'bad-host': {
    why: 'Bad host',
    todo: 'Call it by a name of this machine or of a tunnel, or allow the name in the source’s settings.',
  },
  'no-such-source': {
    why: 'Unknown source',
    todo: 'Add the source, or correct the URL at the provider.',
  },
  'body-too-large': {
    why: 'Body too large',
    todo: 'Raise the limit of the body, or have the provider send less.',
  },
  'body-too-slow': { why: 'Body too slow', todo: 'The sender stalled. It has to send again.' },
  'body-truncated': { why: 'Body cut off', todo: 'The connection broke. The sender has to send again.' },
  'bad-request-head': { why: 'Not HTTP', todo: 'Something else than a webhook called. Nothing to do.' },
  'no-head': { why: 'No request', todo: 'The sender connected and said nothing. Nothing to do.' },
  'told-to-fail': { why: 'Told to fail', todo: 'The source’s settings ask for this answer.' },
};

/** Says in a few words why a request was refused. */
export function whyRefused({ code, status }: Pick<Refusal, 'code' | 'status'>): string {
  return CODES[code]?.why ?? (status === 429 ? 'Too many at once' : code.replaceAll('-', ' '));
}

/** Says what to do about a refused request. */
export function todoAbout({ code, status }: Pick<Refusal, 'code' | 'status'>): string {
  if (CODES[code]) return CODES[code].todo;
  if (status === 429) return 'The sender may send again, more slowly.';
  return status >= 500 ? 'Most providers send again.' : 'Correct the request at the sender.';
}

const [BEFORE, AFTER] = [60 * 60_000, 60_000];

/**
 * Returns the time in which the provider lists the event of a refused request: it happened before it was sent, and may
 * have been sent more than once.
 */
export function around(refusedAt: string, now: number): { since: string; until?: string } {
  const at = Date.parse(refusedAt);
  const since = new Date(at - BEFORE).toISOString();
  return at + AFTER < now ? { since, until: new Date(at + AFTER).toISOString() } : { since };
}
