import { api, ask } from './client';
import type { components } from './schema.gen';
import type { Device, Gap, Invitation, Tunnel } from './shapes';

type Order = components['schemas']['TunnelRequest'];

/** A tunnel to add: a relay with its token, an invitation, a smee channel, or a program that provides a URL. */
export type NewTunnel =
  | { relay: string; token: string; name: string | null }
  | { invite: string }
  | { kind: 'smee'; url: string; source: string }
  | { kind: 'cloudflared' | 'ngrok'; source: string };

/** A page of a tunnel's gaps, newest first. */
export interface GapPage {
  items: Gap[];
  next_cursor: string | null;
}

/** Returns every tunnel, in the order in which they were added. */
export async function listTunnels(): Promise<Tunnel[]> {
  return (await ask(api.GET('/api/tunnels'))).items as Tunnel[];
}

/** Opens a tunnel. Resolves once the relay has answered. */
export function addTunnel(order: NewTunnel): Promise<Tunnel> {
  return ask(api.POST('/api/tunnels', { body: order as Order }));
}

/** Gets a source a public URL by what there is; a new channel only if that was agreed to. */
export function publicUrl(source: string, channel: boolean): Promise<Tunnel> {
  return ask(api.POST('/api/tunnels/public', { body: { source, channel } })) as Promise<Tunnel>;
}

/** Connects or disconnects a tunnel. */
export function turnTunnel(id: number, enabled: boolean): Promise<Tunnel> {
  const body = { enabled } as components['schemas']['TunnelChange'];
  return ask(api.PATCH('/api/tunnels/{id}', { params: { path: { id } }, body }));
}

/** Chooses the sources that a relay serves; an empty list means all. */
export function chooseSources(id: number, sources: readonly string[]): Promise<Tunnel> {
  const body = { sources } as components['schemas']['TunnelChange'];
  return ask(api.PATCH('/api/tunnels/{id}', { params: { path: { id } }, body }));
}

/** Leaves a tunnel for good. Returns whether the relay was told; null if the tunnel has no relay. */
export async function removeTunnel(id: number): Promise<boolean | null> {
  const removed = await ask(api.DELETE('/api/tunnels/{id}', { params: { path: { id } } }));
  return removed.relay_told;
}

/** Asks the relay for a single-use invitation. */
export function inviteTo(id: number): Promise<Invitation> {
  return ask(api.POST('/api/tunnels/{id}/invite', { params: { path: { id } } }));
}

/** Returns the devices that take part in a tunnel, oldest first. */
export async function listDevices(id: number): Promise<Device[]> {
  return (await ask(api.GET('/api/tunnels/{id}/devices', { params: { path: { id } } }))).items;
}

/** Removes a device for good. Returns the other devices to which the new key could not be given. */
export async function revokeDevice(id: number, device: string): Promise<Device[]> {
  const path = { id, device };
  return (await ask(api.DELETE('/api/tunnels/{id}/devices/{device}', { params: { path } }))).without_key;
}

/** Returns a page of a tunnel's gaps. */
export async function listGaps(id: number, cursor: string | null, limit: number): Promise<GapPage> {
  const query = cursor === null ? { limit } : { limit, cursor: Number(cursor) };
  return (await ask(api.GET('/api/tunnels/{id}/gaps', { params: { path: { id }, query } }))) as GapPage;
}

/** Returns every tunnel's ended gaps in which events were caught up, lost or perhaps lost unnoticed, newest first. */
export async function gapsSince(since: string): Promise<Gap[]> {
  const query = { since, limit: 1_000 };
  return (await ask(api.GET('/api/gaps', { params: { query } }))).items as Gap[];
}
