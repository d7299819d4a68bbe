import type { Event, Target, Tunnel } from '../api/shapes';
import { host } from '../format/words';
import { targetWords, type TargetWords } from '../format/target';
import type { Tone } from '../format/tunnel';
import { count } from '../format/count';
import { wait } from '../format/duration';

/**
 * All that is known of an event's way from its provider to the targets. Sentence, strip, stations, chart and table are
 * functions of it alone, so that they can't contradict each other.
 */
export interface World {
  now: number;
  /** Whether the page hears from hookmitt. */
  isConnected: boolean;
  /** Whether this process captures; null until that is known. */
  captures: boolean | null;
  /** The number of events in the inbox; null until that is known. */
  events: number | null;
  /** The number of deliveries that are still to be made. */
  queued: number;
  /** The events of the last minute. */
  came: readonly Came[];
  /** Every tunnel; null until they were read. */
  tunnels: readonly Tunnel[] | null;
  /** Whether reading the tunnels failed. */
  isUnread: boolean;
  targets: readonly Target[];
  /** The number of deliveries that wait, by the id of their target. */
  waiting: ReadonlyMap<number, number>;
}

/** When and how an event came in. */
export interface Came {
  at: number;
  via: Event['via'];
}

const MINUTE = 60_000;

/** How many events came in the last minute: in all, and through tunnels. */
export interface Rates {
  all: number;
  tunnelled: number;
}

/** Returns how many events came in the last minute. A tunnel may tell of its newest event before the event is counted. */
export function ratesOf({ now, came, tunnels }: World): Rates {
  const recent = came.filter(({ at }) => at > now - MINUTE);
  const counted = recent.filter(({ via }) => via === 'tunnel').length;
  const told = (tunnels ?? []).filter(({ last_event_at: last }) => isRecent(last, now)).length;
  const tunnelled = Math.max(counted, told);
  return { all: Math.max(recent.length, recent.length - counted + tunnelled), tunnelled };
}

function isRecent(at: string | null, now: number): boolean {
  return at !== null && Date.parse(at) > now - MINUTE;
}

/** Returns the rate for the strip: `12/min`, or that nothing ever came. */
export function rateWord(world: World): string {
  const { all } = ratesOf(world);
  const everCame = (world.tunnels ?? []).some(({ last_event_at: last }) => last !== null);
  return all === 0 && world.events === 0 && !everCame ? 'none yet' : `${count(all)}/min`;
}

/** Returns a tunnel's rate in words, and when its last event came. */
export function rateOf(tunnel: Tunnel, world: World): { state: string; note: string } {
  const { tunnelled } = ratesOf(world);
  const several = (world.tunnels ?? []).filter(({ enabled }) => enabled).length > 1;
  const state = `${count(tunnelled)} a minute through ${several ? 'all tunnels' : 'this tunnel'}`;
  const { last_event_at: last } = tunnel;
  if (last === null) {
    // The tunnel may tell of its newest event after the event was counted.
    const note = several ? 'none through this one yet' : tunnelled > 0 ? 'last one just now' : 'none yet';
    return { state, note };
  }
  const ago = Math.max(0, world.now - Date.parse(last));
  return { state, note: ago < 1000 ? 'last one just now' : `last one ${wait(ago)} ago` };
}

/** How this app is. */
export interface AppState {
  tone: Tone;
  /** In the strip. */
  value: string;
  /** As a station's state. */
  state: string;
}

/** Returns how this app is: for all tunnels the same, since they have one inbox. */
export function appOf(world: World): AppState {
  if (!world.isConnected) return { tone: 'bad', value: 'not connected', state: 'Not connected' };
  if (!(world.tunnels ?? []).every(({ stores }) => stores))
    return { tone: 'warn', value: 'can’t store', state: 'Can’t store events now' };
  if (world.captures === false) return { tone: 'none', value: 'not capturing', state: 'Not capturing here' };
  const value = world.events === 0 ? 'ready' : `${count(world.queued)} queued`;
  return { tone: 'ok', value, state: 'Stores and answers' };
}

/** A local server. Targets at the same host and port are one place. */
export interface TargetPlace {
  place: string;
  /** The place without its host if that is this computer. */
  short: string;
  /** What is known of it. */
  words: TargetWords;
  tone: Tone;
  /** The number of deliveries that are held up until it is resumed or answers. */
  waiting: number;
}

/** Returns the places to which events go. */
export function placesOf({ targets, waiting, now }: World): TargetPlace[] {
  const places = new Map<string, Target[]>();
  for (const target of targets) {
    const place = host(target.url);
    places.set(place, [...(places.get(place) ?? []), target]);
  }
  return [...places].map(([place, all]) => {
    const held = all.filter(({ paused, state }) => paused || state.is === 'silent');
    const waits = held.reduce((sum, { id }) => sum + (waiting.get(id) ?? 0), 0);
    const words = placeWords(all, now);
    const short = place.replace(/^(localhost|127\.0\.0\.1|\[::1\])(?=:)/, '');
    return { place, short, words, tone: waits > 0 ? 'warn' : words.tone, waiting: waits };
  });
}

/** One server answers for all targets at a place: what was seen last at any of them holds. */
function placeWords(all: readonly Target[], now: number): TargetWords {
  const seen = all.map(({ state }) => state).toSorted((a, b) => seenAt(b) - seenAt(a));
  const [state] = seen;
  const paused = all.filter((target) => target.paused).length;
  const words = targetWords({ paused: paused > 0, state: state! }, now);
  if (paused === 0 || paused === all.length) return words;
  const some = `${count(paused)} of ${count(all.length)} paused`;
  return { ...words, word: some, label: some };
}

function seenAt(state: Target['state']): number {
  if (state.is === 'untried') return 0;
  return Date.parse(state.is === 'answered' ? state.at : state.since);
}

/** Returns the state of a place in few words: what waits for it, else what is known of it. */
export function placeWord({ waiting, words }: TargetPlace): string {
  return waiting > 0 ? `${count(waiting)} waiting` : words.word;
}
