import type { Tunnel } from '../api/shapes';
import { count } from './count';

/** Well, waiting, broken, or nothing of these. */
export type Tone = 'ok' | 'warn' | 'bad' | 'none';

/** Whether a tunnel is well. */
export function toneOf({ state, error }: Pick<Tunnel, 'state' | 'error'>): Tone {
  if (state === 'connected') return error ? 'warn' : 'ok';
  if (state === 'off') return 'none';
  return state === 'connecting' || state === 'limited' ? 'warn' : 'bad';
}

/** How a tunnel is, in a word; the round trip where it is connected and well. */
export function stateWord({ state, rtt_ms: rtt, error }: Pick<Tunnel, 'state' | 'rtt_ms' | 'error'>): string {
  if (state === 'connected' && error) return 'trouble';
  return state === 'connected' && rtt !== null ? `${count(Math.round(rtt))} ms` : state;
}

/** Where a source's provider posts; null where the tunnel serves other sources. What serves one only is its address. */
export function urlOf(
  { kind, public_url: url, source, sources }: Pick<Tunnel, 'kind' | 'public_url' | 'source' | 'sources'>,
  slug: string,
): string | null {
  if (url === null) return null;
  const isServed = sources.length === 0 || sources.includes(slug);
  if (kind === 'relay') return isServed ? `${url}/${slug}` : null;
  return source === slug ? url : null;
}
