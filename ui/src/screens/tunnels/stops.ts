import type { Tunnel } from '../../api/shapes';
import { count, counted } from '../../format/count';
import { wait } from '../../format/duration';
import { stores, toneOf, type Tone } from '../../format/tunnel';
import type { TargetPlace } from '../../state/stations.svelte';
import { limitsOf } from './words';

/** One of the four stations on an event's way. */
export interface Stop {
  kind: 'providers' | 'relay' | 'app' | 'target';
  tone: Tone;
  name: string;
  /** The station's state. */
  state: string;
  /** Further details. */
  note: string;
}

/** The line between two stations; its tone decides whether it is solid, dashed or broken. */
export interface Leg {
  tone: Tone;
  label: string;
}

/** What the way depends on besides the tunnel. */
export interface Around {
  now: number;
  perMinute: number;
  /** Whether other tunnels bring events too, so that the rate is not this tunnel's alone. */
  several: boolean;
  places: readonly TargetPlace[];
}

/** Returns an event's way through a tunnel: four stations and the lines between them. */
export function wayThrough(tunnel: Tunnel, around: Around): { stops: Stop[]; legs: Leg[] } {
  return {
    stops: [providers(tunnel, around), relay(tunnel), app(tunnel), targets(around.places)],
    legs: [toRelay(tunnel), toApp(tunnel), toTargets(around.places)],
  };
}

const isUp = ({ state }: Tunnel) => state === 'connected' || state === 'limited';

function providers(tunnel: Tunnel, { now, perMinute, several }: Around): Stop {
  const last = tunnel.last_event_at;
  const ago = last === null ? 0 : now - Date.parse(last);
  return {
    kind: 'providers',
    tone: 'none',
    name: 'Providers',
    state: `${count(perMinute)} a minute by ${several ? 'all tunnels' : 'this tunnel'}`,
    note: last === null ? 'none came yet' : ago < 1000 ? 'last one just now' : `last one ${wait(ago)} ago`,
  };
}

const stateWords: Record<Tunnel['state'], string> = {
  connected: 'Connected',
  limited: 'Connected, limited',
  connecting: 'Connecting',
  offline: 'Not connected',
  refused: 'Refused',
  off: 'Off',
};

function relay(tunnel: Tunnel): Stop {
  const { letters } = tunnel.waiting;
  return {
    kind: 'relay',
    tone: toneOf(tunnel),
    name: tunnel.host || tunnel.label,
    state:
      tunnel.state === 'connected' && tunnel.error ? 'Connected, with a problem' : stateWords[tunnel.state],
    note: limitsOf(tunnel)
      ? 'keeps nothing'
      : isUp(tunnel)
        ? `${count(letters)} in the mailbox, sealed`
        : 'mailbox unknown',
  };
}

function app(tunnel: Tunnel): Stop {
  const note =
    tunnel.kind === 'relay' ? `${count(tunnel.to_acknowledge)} to acknowledge` : 'stored before it is shown';
  const base = { kind: 'app', name: 'This app', note } as const;
  return stores(tunnel)
    ? { ...base, tone: 'ok', state: 'Stores and answers' }
    : { ...base, tone: 'warn', state: 'Can’t store events now' };
}

function targets(places: readonly TargetPlace[]): Stop {
  const base = { kind: 'target', name: places.length === 1 ? 'Target' : 'Targets' } as const;
  if (places.length === 0)
    return { ...base, name: 'Target', tone: 'none', state: 'Not set', note: 'events stay in the inbox' };
  const up = places.filter(({ held }) => !held).length;
  const held = places.find((place) => place.held);
  const state =
    places.length === 1 ? (held ? (held.down ? 'Down' : 'Paused') : 'Up') : `${up} of ${places.length} up`;
  const note = held
    ? held.waiting > 0
      ? `${count(held.waiting)} waiting for ${held.short}`
      : `${held.short} ${held.down ? 'is down' : 'is paused'}`
    : places.map(({ short }) => short).join(', ');
  return { ...base, tone: held ? 'warn' : 'ok', state, note };
}

/** While the tunnel is not connected, this app can't know whether providers reach the relay. */
function toRelay(tunnel: Tunnel): Leg {
  const label = tunnel.kind === 'smee' ? 'parsed requests' : 'signed requests';
  return { tone: isUp(tunnel) ? 'ok' : 'none', label };
}

function toApp(tunnel: Tunnel): Leg {
  const { state, waiting, rtt_ms: rtt } = tunnel;
  if (state === 'off') return { tone: 'none', label: 'off' };
  if (state === 'connecting') return { tone: 'warn', label: 'connecting' };
  if (!isUp(tunnel)) return { tone: 'bad', label: 'cut' };
  if (waiting.letters > 0) return { tone: 'warn', label: `${count(waiting.letters)} on the way` };
  return { tone: 'ok', label: rtt === null ? 'live' : `${count(Math.round(rtt))} ms` };
}

function toTargets(places: readonly TargetPlace[]): Leg {
  if (places.length === 0) return { tone: 'none', label: 'no target' };
  return { tone: places.some(({ held }) => held) ? 'warn' : 'ok', label: counted(places.length, 'target') };
}
