import { api, ask } from './client';
import type { components } from './schema.gen';
import type { Device, Gap, Invitation, Tunnel } from './shapes';

type Order = components['schemas']['TunnelRequest'];

/** What makes a tunnel: a relay with its token, an invitation, a channel, or a program that gives a URL. */
export type NewTunnel =
  | { relay: string; token: string; name: string | null }
  | { invite: string }
  | { kind: 'smee'; url: string; source: string }
  | { kind: 'cloudflared' | 'ngrok'; source: string };

/** A stretch of a tunnel's history, newest first. */
export interface GapPage {
  items: Gap[];
  next_cursor: string | null;
}

/** Every tunnel, in the order they were added. */
export async function listTunnels(): Promise<Tunnel[]> {
  return (await ask(api.GET('/api/tunnels'))).items as Tunnel[];
}

/** Opens a tunnel. It answers once the relay has. */
export function addTunnel(order: NewTunnel): Promise<Tunnel> {
  return ask(api.POST('/api/tunnels', { body: order as Order }));
}

/** Connects or disconnects a tunnel. */
export function turnTunnel(id: number, enabled: boolean): Promise<Tunnel> {
  const body = { enabled } as components['schemas']['TunnelChange'];
  return ask(api.PATCH('/api/tunnels/{id}', { params: { path: { id } }, body }));
}

/** Chooses the sources that a relay is told of; none: all. */
export function chooseSources(id: number, sources: readonly string[]): Promise<Tunnel> {
  const body = { sources } as components['schemas']['TunnelChange'];
  return ask(api.PATCH('/api/tunnels/{id}', { params: { path: { id } }, body }));
}

/** Leaves a tunnel for good. Answers whether the relay heard of it; null where there is none. */
export async function removeTunnel(id: number): Promise<boolean | null> {
  const removed = await ask(api.DELETE('/api/tunnels/{id}', { params: { path: { id } } }));
  return removed.relay_told;
}

/** Asks the relay for an invitation that works once. */
export function inviteTo(id: number): Promise<Invitation> {
  return ask(api.POST('/api/tunnels/{id}/invite', { params: { path: { id } } }));
}

/** Who takes part in a tunnel, the oldest first. */
export async function listDevices(id: number): Promise<Device[]> {
  return (await ask(api.GET('/api/tunnels/{id}/devices', { params: { path: { id } } }))).items;
}

/** Turns a device out for good. Answers which others could not be given the new key. */
export async function revokeDevice(id: number, device: string): Promise<Device[]> {
  const path = { id, device };
  return (await ask(api.DELETE('/api/tunnels/{id}/devices/{device}', { params: { path } }))).without_key;
}

/** When a tunnel was not connected. */
export async function listGaps(id: number, cursor: string | null, limit: number): Promise<GapPage> {
  const query = cursor === null ? { limit } : { limit, cursor: Number(cursor) };
  return (await ask(api.GET('/api/tunnels/{id}/gaps', { params: { path: { id }, query } }))) as GapPage;
}

/** The gaps of every tunnel after which something was caught up or lost, newest first. */
export async function gapsSince(since: string): Promise<Gap[]> {
  const query = { since, limit: 1_000 };
  return (await ask(api.GET('/api/gaps', { params: { query } }))).items as Gap[];
}
