import type { Tunnel } from '../../api/shapes';
import { count, counted } from '../../format/count';
import { isUp, stateLabel, toneOf, type Tone } from '../../format/tunnel';
import { appOf, placesOf, rateOf, type TargetPlace, type World } from '../../state/world';
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

/** Returns an event's way through a tunnel: four stations and the lines between them. */
export function wayThrough(tunnel: Tunnel, world: World): { stops: Stop[]; legs: Leg[] } {
  const places = placesOf(world);
  return {
    stops: [providers(tunnel, world), relay(tunnel), app(tunnel, world), targets(places)],
    legs: [toRelay(tunnel), toApp(tunnel), toTargets(places)],
  };
}

function providers(tunnel: Tunnel, world: World): Stop {
  return { kind: 'providers', tone: 'none', name: 'Providers', ...rateOf(tunnel, world) };
}

function relay(tunnel: Tunnel): Stop {
  const mailbox = isUp(tunnel)
    ? `${count(tunnel.waiting.letters)} in the mailbox, sealed`
    : 'mailbox unknown';
  return {
    kind: 'relay',
    tone: toneOf(tunnel),
    name: tunnel.host || tunnel.label,
    state: stateLabel(tunnel),
    note: limitsOf(tunnel) ? 'stores nothing' : mailbox,
  };
}

function app(tunnel: Tunnel, world: World): Stop {
  const note =
    tunnel.kind === 'relay' ? `${count(tunnel.to_acknowledge)} to acknowledge` : 'stored before it is shown';
  const { tone, state } = appOf(world);
  return { kind: 'app', name: 'This app', note, tone, state };
}

function targets(places: readonly TargetPlace[]): Stop {
  const base = { kind: 'target', name: places.length === 1 ? 'Target' : 'Targets' } as const;
  const [first, ...more] = places;
  if (!first)
    return { ...base, name: 'Target', tone: 'none', state: 'Not set', note: 'events stay in the inbox' };
  const up = places.filter(({ words }) => words.condition === 'up').length;
  const state = more.length === 0 ? first.words.label : `${count(up)} of ${count(places.length)} up`;
  return { ...base, tone: worstOf(places), state, note: targetNote(places) };
}

/** Says what keeps targets from getting events, else where they go. */
function targetNote(places: readonly TargetPlace[]): string {
  const waiting = places.toSorted((a, b) => b.waiting - a.waiting)[0];
  if (waiting && waiting.waiting > 0) return `${count(waiting.waiting)} waiting for ${waiting.short}`;
  const held = places.find(({ tone }) => tone === 'warn');
  if (held) return `${held.short}: ${held.words.word}`;
  return places.map(({ short }) => short).join(', ');
}

function worstOf(places: readonly TargetPlace[]): Tone {
  if (places.some(({ tone }) => tone === 'warn')) return 'warn';
  return places.every(({ tone }) => tone === 'ok') ? 'ok' : 'none';
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
  if (!isUp(tunnel)) return { tone: 'bad', label: 'no connection' };
  if (waiting.letters > 0) return { tone: 'warn', label: `${count(waiting.letters)} on the way` };
  return { tone: 'ok', label: rtt === null ? 'live' : `${count(Math.round(rtt))} ms` };
}

function toTargets(places: readonly TargetPlace[]): Leg {
  if (places.length === 0) return { tone: 'none', label: 'no target' };
  return { tone: worstOf(places), label: counted(places.length, 'target') };
}
