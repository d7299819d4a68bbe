import type { Gap, Target, Tunnel } from '../api/shapes';
import type { World } from './world';

/** Returns a local time as the API writes it. */
export const iso = (text: string) => new Date(text).toISOString();
/** When the examples are looked at. */
export const now = new Date('2026-11-20T09:00:00').getTime();

/** A night's gap. */
export const gap = (change: Partial<Gap> = {}): Gap => ({
  id: 1,
  tunnel_id: 1,
  label: 'acme-dev',
  from: iso('2026-11-20T02:10:00'),
  until: iso('2026-11-20T08:44:00'),
  why: 'asleep',
  caught_up: 37,
  lost: 0,
  synced: null,
  unrecoverable: null,
  took_ms: 210,
  first_seq: 1,
  last_seq: 37,
  ...change,
});

/** A tunnel that is well, and was offline in the night. */
export const tunnel = (change: Partial<Tunnel> = {}): Tunnel => ({
  id: 1,
  kind: 'relay',
  label: 'acme-dev',
  tunnel: 'acme-dev',
  source: null,
  sources: [],
  relay: 'https://relay.acme.dev',
  host: 'relay.acme.dev',
  public_url: 'https://relay.acme.dev/acme-dev',
  enabled: true,
  state: 'connected',
  since: iso('2026-11-20T08:44:00'),
  why: null,
  hindrance: null,
  stores: true,
  error: null,
  rtt_ms: 38,
  waiting: { letters: 0, bytes: 0, oldest_at: null },
  to_acknowledge: 0,
  refused: { count: 0, last_at: null },
  unknown: 0,
  unserved: [],
  spoilt: { count: 0, last_at: null },
  last_event_at: iso('2026-11-20T08:59:56'),
  created_at: iso('2026-11-01T08:00:00'),
  gap: gap(),
  ...change,
});

/** A target that answers. */
export const target = (id: number, port: number, change: Partial<Target> = {}): Target => ({
  id,
  source: null,
  url: `http://localhost:${port}/hooks`,
  order: 'sequential',
  attempts: 5,
  timeout_ms: 30_000,
  retry_base_ms: 1_000,
  retry_cap_ms: 60_000,
  preserve_host: false,
  hookmitt_headers: true,
  paused: false,
  state: { is: 'answered', at: iso('2026-11-20T08:59:55') },
  kind: 'kept',
  ...change,
});

/** Nobody answers since shortly before. */
export const silent: Target['state'] = {
  is: 'silent',
  since: iso('2026-11-20T08:58'),
  why: 'connection_refused',
  error: 'connection refused by localhost:8787',
};

/** What is known around one tunnel. */
export const world = (change: Partial<World> = {}): World => ({
  now,
  isConnected: true,
  captures: true,
  events: 4_812,
  queued: 0,
  came: [],
  tunnels: [tunnel()],
  isUnread: false,
  targets: [],
  waiting: new Map(),
  ...change,
});
