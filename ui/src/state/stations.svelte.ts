import { count } from '../format/count';
import { host } from '../format/words';
import { connection } from './connection.svelte';
import { sources } from './sources.svelte';
import { stats } from './stats.svelte';
import type { Target } from '../api/shapes';

/** A stop on the way of an event, and how it is. */
export interface Station {
  id: string;
  kind: 'providers' | 'relay' | 'app' | 'target' | 'no-target';
  tone: 'ok' | 'warn' | 'bad' | 'none';
  name: string;
  /** The name where there is little room. */
  short: string;
  /** How it is, in a word or a number. */
  value: string;
}

/** The stops of every event, in order: providers, relay, this app, the targets. */
export function stations(): Station[] {
  return [providers(), relay, app(), ...targets()];
}

function providers(): Station {
  const value = stats.now && stats.events === 0 ? 'none yet' : `${count(stats.perMinute)}/min`;
  return { id: 'providers', kind: 'providers', tone: 'none', name: 'Providers', short: 'Providers', value };
}

const relay: Station = {
  id: 'relay',
  kind: 'relay',
  tone: 'none',
  name: 'Relay',
  short: 'Relay',
  value: 'not set up',
};

function app(): Station {
  const base = { id: 'app', kind: 'app', name: 'This app', short: 'This app' } as const;
  if (connection.state === 'lost') return { ...base, tone: 'bad', value: 'not connected' };
  if (sources.capture.length === 0 && stats.now) return { ...base, tone: 'none', value: 'not catching' };
  return { ...base, tone: 'ok', value: stats.events === 0 ? 'ready' : `${count(stats.queued)} queued` };
}

/** Targets at the same place are one station: it is the same server. */
function targets(): Station[] {
  const places = byPlace(sources.targets);
  if (places.size === 0) {
    return [
      { id: 'target', kind: 'no-target', tone: 'none', name: 'Target', short: 'Target', value: 'not set' },
    ];
  }
  return [...places].map(([place, all]) => {
    const short = place.replace(/^(localhost|127\.0\.0\.1|\[::1\])(?=:)/, '');
    const base = { id: `target-${place}`, kind: 'target', name: place, short } as const;
    if (!all.some(isHeld)) return { ...base, tone: 'ok', value: 'up' };
    return { ...base, tone: 'warn', value: waiting(all) };
  });
}

function byPlace(targets: Target[]): Map<string, Target[]> {
  const places = new Map<string, Target[]>();
  for (const target of targets) {
    const place = host(target.url);
    places.set(place, [...(places.get(place) ?? []), target]);
  }
  return places;
}

function waiting(targets: Target[]): string {
  const deliveries = targets.reduce((sum, target) => sum + stats.ofTarget(target.id), 0);
  if (deliveries > 0) return `${count(deliveries)} waiting`;
  return targets.some((target) => target.down_since !== null) ? 'down' : 'paused';
}

function isHeld(target: Target): boolean {
  return target.paused || target.down_since !== null;
}
