import type { Target } from '../api/shapes';
import { count } from '../format/count';
import { stateWord, stores, toneOf, type Tone } from '../format/tunnel';
import { host } from '../format/words';
import { connection } from './connection.svelte';
import { sources } from './sources.svelte';
import { stats } from './stats.svelte';
import { tunnels } from './tunnels.svelte';

/** A stop on an event's way, and its state. */
export interface Station {
  id: string;
  kind: 'providers' | 'relay' | 'app' | 'target' | 'no-target';
  tone: Tone;
  name: string;
  /** The name where there is little room. */
  short: string;
  /** The state in one word or as a number. */
  value: string;
  /** A link to the details. */
  href?: string;
}

/** Returns the stops of every event, in order: providers, relays, this app, the targets. */
export function stations(): Station[] {
  return [providers(), ...relays(), app(), ...targets()];
}

/** Returns the stops where there is little room: several relays are one stop, and so are more than two targets. */
export function fewStations(): Station[] {
  const [on, to] = [relays(), targets()];
  return [
    providers(),
    ...(on.length > 1 ? [together(on, `${count(on.length)} tunnels`, '#/tunnels')] : on),
    app(),
    ...(to.length > 2 ? [together(to, `${count(to.length)} targets`)] : to),
  ];
}

const WORST = ['bad', 'warn', 'none', 'ok'] as const;

/** Joins several stops; what the worst of them says stands for all. */
function together(all: Station[], name: string, href?: string): Station {
  const [worst] = all.toSorted((a, b) => WORST.indexOf(a.tone) - WORST.indexOf(b.tone));
  const { kind, tone, value } = worst!;
  const alike = all.filter((one) => one.tone === tone).length;
  const said = tone === 'ok' ? 'all up' : alike > 1 ? `${count(alike)} of them ${value}` : value;
  return { id: kind, kind, tone, name, short: name, value: said, ...(href ? { href } : {}) };
}

function providers(): Station {
  const value = stats.now && stats.events === 0 ? 'none yet' : `${count(stats.perMinute)}/min`;
  return { id: 'providers', kind: 'providers', tone: 'none', name: 'Providers', short: 'Providers', value };
}

/** Returns the tunnels that are switched on, or one stop that says why there is none. */
function relays(): Station[] {
  const base = { kind: 'relay', tone: 'none' } as const;
  const none = { ...base, id: 'relay', name: 'Relay', short: 'Relay', href: '#/tunnels' };
  if (!tunnels.loaded) return [{ ...none, value: tunnels.problem ? 'unknown' : '' }];
  if (tunnels.list.length === 0) return [{ ...none, value: 'not set up' }];
  const on = tunnels.list.filter((tunnel) => tunnel.enabled);
  if (on.length === 0) return [{ ...none, value: 'off' }];
  const hosts = on.map((tunnel) => tunnel.host);
  return on.map((tunnel) => {
    // If several tunnels use one relay host, each shows its own label.
    const isOnly = hosts.indexOf(tunnel.host) === hosts.lastIndexOf(tunnel.host);
    const name = (tunnel.kind === 'relay' && isOnly && tunnel.host) || tunnel.label;
    const href = `#/tunnels/${tunnel.id}`;
    return {
      ...base,
      id: `relay-${tunnel.id}`,
      tone: toneOf(tunnel),
      name,
      short: name,
      value: stateWord(tunnel),
      href,
    };
  });
}

function app(): Station {
  const base = { id: 'app', kind: 'app', name: 'This app', short: 'This app' } as const;
  if (connection.state === 'lost') return { ...base, tone: 'bad', value: 'not connected' };
  if (sources.capture.length === 0 && stats.now) return { ...base, tone: 'none', value: 'not catching' };
  if (!tunnels.list.every(stores)) return { ...base, tone: 'warn', value: 'can’t store' };
  return { ...base, tone: 'ok', value: stats.events === 0 ? 'ready' : `${count(stats.queued)} queued` };
}

function targets(): Station[] {
  const places = targetPlaces();
  if (places.length === 0) {
    return [
      { id: 'target', kind: 'no-target', tone: 'none', name: 'Target', short: 'Target', value: 'not set' },
    ];
  }
  return places.map(({ place, short, held, waiting, down }) => {
    const base = { id: `target-${place}`, kind: 'target', name: place, short } as const;
    if (!held) return { ...base, tone: 'ok', value: 'up' };
    const value = waiting > 0 ? `${count(waiting)} waiting` : down ? 'down' : 'paused';
    return { ...base, tone: 'warn', value };
  });
}

/** A local server. Targets at the same host and port are one place. */
export interface TargetPlace {
  place: string;
  /** The place without its host if that is this computer. */
  short: string;
  /** The place is down or paused. */
  held: boolean;
  down: boolean;
  /** The number of deliveries that wait for it. */
  waiting: number;
}

/** Returns the places to which events go. */
export function targetPlaces(): TargetPlace[] {
  const places = new Map<string, Target[]>();
  for (const target of sources.targets) {
    const place = host(target.url);
    places.set(place, [...(places.get(place) ?? []), target]);
  }
  return [...places].map(([place, all]) => ({
    place,
    short: place.replace(/^(localhost|127\.0\.0\.1|\[::1\])(?=:)/, ''),
    held: all.some((target) => target.paused || target.down_since !== null),
    down: all.some((target) => target.down_since !== null),
    waiting: all.reduce((sum, target) => sum + stats.ofTarget(target.id), 0),
  }));
}
