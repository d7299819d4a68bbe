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

/** Where a source's provider posts; null where the tunnel serves another source. What serves one only is its address. */
export function urlOf(
  { kind, public_url: url, source }: Pick<Tunnel, 'kind' | 'public_url' | 'source'>,
  slug: string,
): string | null {
  if (url === null) return null;
  if (kind === 'relay') return `${url}/${slug}`;
  return source === slug ? url : null;
}
