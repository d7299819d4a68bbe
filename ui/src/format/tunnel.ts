import type { Tunnel } from '../api/shapes';
import { count } from './count';

/** Working, waiting or in trouble, broken, or switched off. */
export type Tone = 'ok' | 'warn' | 'bad' | 'none';

/** How a tunnel is, for people: its state, and whether something is wrong with it. */
export type Condition =
  'connected' | 'problem' | 'limited' | 'connecting' | 'offline' | 'refused' | 'stuck' | 'off';

interface Look {
  tone: Tone;
  /** In a word. */
  word: string;
  /** As the label of a station. */
  label: string;
  /** After the number of tunnels that are so. */
  counted: string;
}

const LOOKS: Record<Condition, Look> = {
  connected: { tone: 'ok', word: 'connected', label: 'Connected', counted: 'connected' },
  problem: { tone: 'warn', word: 'problem', label: 'Connected, with a problem', counted: 'with a problem' },
  limited: { tone: 'warn', word: 'limited', label: 'Connected, limited', counted: 'limited' },
  connecting: { tone: 'warn', word: 'connecting', label: 'Connecting', counted: 'connecting' },
  offline: { tone: 'bad', word: 'offline', label: 'Offline', counted: 'offline' },
  refused: { tone: 'bad', word: 'refused', label: 'Refused', counted: 'refused' },
  stuck: { tone: 'bad', word: 'can’t connect', label: 'Can’t connect', counted: 'can’t connect' },
  off: { tone: 'none', word: 'off', label: 'Off', counted: 'off' },
};

/** Every condition, from the best to those that nobody wants. */
export const CONDITIONS = Object.keys(LOOKS) as Condition[];

/** Returns how a tunnel is. Every place that tells of it asks here. */
export function conditionOf({
  state,
  error,
  hindrance,
}: Pick<Tunnel, 'state' | 'error' | 'hindrance'>): Condition {
  if ((state === 'connected' || state === 'limited') && error) return 'problem';
  if (state === 'refused' && hindrance !== null && hindrance !== 'denied') return 'stuck';
  return state;
}

/** Whether events come through a tunnel. */
export function isUp({ state }: Pick<Tunnel, 'state'>): boolean {
  return state === 'connected' || state === 'limited';
}

/** Returns how well a tunnel works. */
export function toneOf(tunnel: Pick<Tunnel, 'state' | 'error' | 'hindrance'>): Tone {
  return LOOKS[conditionOf(tunnel)].tone;
}

/** Returns a tunnel's state as the label of a station. */
export function stateLabel(tunnel: Pick<Tunnel, 'state' | 'error' | 'hindrance'>): string {
  return LOOKS[conditionOf(tunnel)].label;
}

/** Returns a tunnel's state in one word; if it is connected without an error, its round trip if that is known. */
export function stateWord(tunnel: Pick<Tunnel, 'state' | 'rtt_ms' | 'error' | 'hindrance'>): string {
  const condition = conditionOf(tunnel);
  const { rtt_ms: rtt } = tunnel;
  return condition === 'connected' && rtt !== null ? `${count(Math.round(rtt))} ms` : LOOKS[condition].word;
}

/** Returns a tunnel's state for after the number of tunnels that are so. */
export function stateCounted(tunnel: Pick<Tunnel, 'state' | 'error' | 'hindrance'>): string {
  return LOOKS[conditionOf(tunnel)].counted;
}

/** Counts tunnels by condition: `1 connected, 1 limited, 1 off`. */
export function tally(tunnels: readonly Pick<Tunnel, 'state' | 'error' | 'hindrance'>[]): string {
  return CONDITIONS.map((one) => ({ one, n: tunnels.filter((tunnel) => conditionOf(tunnel) === one).length }))
    .filter(({ n }) => n > 0)
    .map(({ one, n }) => `${count(n)} ${LOOKS[one].counted}`)
    .join(', ');
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
