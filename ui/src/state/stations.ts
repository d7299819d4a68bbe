import type { Gap } from '../api/shapes';
import { isUp, stateCounted, stateWord, toneOf, type Tone } from '../format/tunnel';
import { count } from '../format/count';
import { appOf, placesOf, placeWord, rateWord, type World } from './world';

/** A stop on an event's way, and its state. */
export interface Station {
  id: string;
  kind: 'providers' | 'relay' | 'app' | 'target' | 'no-target';
  tone: Tone;
  name: string;
  /** The name where there is little room. */
  short: string;
  /** The state in few words or as a number. */
  value: string;
  /** The state after the number of stops that are so, where `value` doesn't fit there. */
  counted?: string;
  /** What else is known, for the tooltip. */
  says?: string;
  /** A link to the details. */
  href?: string;
}

/** Returns the stops of every event, in order: providers, relays, this app, the targets. */
export function stationsOf(world: World): Station[] {
  return [providers(world), ...relays(world), app(world), ...targets(world)];
}

/** Returns the stops where there is little room: several relays are one stop, and so are more than two targets. */
export function fewStationsOf(world: World): Station[] {
  const [on, to] = [relays(world), targets(world)];
  return [
    providers(world),
    ...(on.length > 1 ? [together(on, 'tunnels', '#/tunnels')] : on),
    app(world),
    ...(to.length > 2 ? [together(to, 'targets')] : to),
  ];
}

const WORST = ['bad', 'warn', 'none', 'ok'] as const;

/** What holds for all stops of a tone, whatever each of them says. */
const UNLIKE = { bad: 'not connected', warn: 'need attention', none: 'not checked lately', ok: 'up' };

/** Joins several stops; what the worst of them say stands for all. */
function together(all: Station[], things: string, href?: string): Station {
  const [worst] = all.toSorted((a, b) => WORST.indexOf(a.tone) - WORST.indexOf(b.tone));
  const { kind, tone } = worst!;
  const bad = all.filter((one) => one.tone === tone);
  const words = new Set(bad.map(({ value, counted }) => counted ?? value));
  const said = tone === 'ok' || words.size > 1 ? UNLIKE[tone] : [...words][0]!;
  const many = bad.length === all.length ? 'all' : `${count(bad.length)} of them`;
  const value = `${many} ${said}`.replace(/^all not /, 'none ');
  const name = `${count(all.length)} ${things}`;
  return { id: kind, kind, tone, name, short: name, value, ...(href ? { href } : {}) };
}

function providers(world: World): Station {
  const value = rateWord(world);
  return { id: 'providers', kind: 'providers', tone: 'none', name: 'Providers', short: 'Providers', value };
}

/** Returns the tunnels that are switched on, or one stop that says why there is none. */
function relays({ tunnels, isUnread }: World): Station[] {
  const base = { kind: 'relay', tone: 'none' } as const;
  const none = { ...base, id: 'relay', name: 'Relay', short: 'Relay', href: '#/tunnels' };
  if (tunnels === null) return [{ ...none, value: isUnread ? 'unknown' : '' }];
  if (tunnels.length === 0) return [{ ...none, value: 'not set up' }];
  const on = tunnels.filter((tunnel) => tunnel.enabled);
  if (on.length === 0) return [{ ...none, value: 'off' }];
  const hosts = on.map((tunnel) => tunnel.host);
  return on.map((tunnel) => {
    // If several tunnels use one relay host, each shows its own label.
    const isOnly = hosts.indexOf(tunnel.host) === hosts.lastIndexOf(tunnel.host);
    const name = (tunnel.kind === 'relay' && isOnly && tunnel.host) || tunnel.label;
    return {
      ...base,
      id: `relay-${tunnel.id}`,
      tone: toneOf(tunnel),
      name,
      short: name,
      value: stateWord(tunnel),
      counted: stateCounted(tunnel),
      href: `#/tunnels/${tunnel.id}`,
    };
  });
}

function app(world: World): Station {
  const { tone, value } = appOf(world);
  return { id: 'app', kind: 'app', name: 'This app', short: 'This app', tone, value };
}

function targets(world: World): Station[] {
  const places = placesOf(world);
  if (places.length === 0) {
    return [
      { id: 'target', kind: 'no-target', tone: 'none', name: 'Target', short: 'Target', value: 'not set' },
    ];
  }
  return places.map((one) => {
    const { place, short, words, tone } = one;
    const base = { id: `target-${place}`, kind: 'target', name: place, short, tone } as const;
    return { ...base, value: placeWord(one), ...(words.says ? { says: words.says } : {}) };
  });
}

/** For how long the line about the last gap is shown. */
const NEWS = 24 * 60 * 60_000;

/** Returns the newest gap of which it is said that a tunnel is back from it: within a day, and as long as it is. */
export function lastBack(gaps: readonly Gap[], { now, tunnels }: World): Gap | null {
  const last = gaps.find(({ until }) => until !== null);
  if (!last?.until || now - Date.parse(last.until) >= NEWS) return null;
  return tunnels?.some((tunnel) => tunnel.id === last.tunnel_id && isUp(tunnel)) ? last : null;
}
