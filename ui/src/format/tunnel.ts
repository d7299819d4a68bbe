import type { Tunnel } from '../api/shapes';
import { count } from './count';

/** Working, waiting or in trouble, broken, or switched off. */
export type Tone = 'ok' | 'warn' | 'bad' | 'none';

/** Returns how well a tunnel works. */
export function toneOf({ state, error }: Pick<Tunnel, 'state' | 'error'>): Tone {
  if (state === 'connected') return error ? 'warn' : 'ok';
  if (state === 'off') return 'none';
  return state === 'connecting' || state === 'limited' ? 'warn' : 'bad';
}

/** Returns a tunnel's state in one word; if it is connected without an error, its round trip if that is known. */
export function stateWord({ state, rtt_ms: rtt, error }: Pick<Tunnel, 'state' | 'rtt_ms' | 'error'>): string {
  if (state === 'connected' && error) return 'problem';
  return state === 'connected' && rtt !== null ? `${count(Math.round(rtt))} ms` : state;
}

/** Returns the URL to which a source's provider posts; null if the tunnel has no URL or doesn't serve that source. */
export function urlOf(
  { kind, public_url: url, source, sources }: Pick<Tunnel, 'kind' | 'public_url' | 'source' | 'sources'>,
  slug: string,
): string | null {
  if (url === null) return null;
  const isServed = sources.length === 0 || sources.includes(slug);
  if (kind === 'relay') return isServed ? `${url}/${slug}` : null;
  return source === slug ? url : null;
}

/** Errors about single letters; other letters are stored all the same. */
const WITH_LETTERS = ['letter-unreadable', 'relay-body-differs'];

/** Whether this app can store letters. An error while connected is this app's, unless it is about letters. */
export function stores({ kind, state, error }: Pick<Tunnel, 'kind' | 'state' | 'error'>): boolean {
  return kind !== 'relay' || state !== 'connected' || error === null || WITH_LETTERS.includes(error.code);
}
