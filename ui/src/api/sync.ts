import { api, ask } from './client';
import type { components } from './schema.gen';
import type { Job } from './shapes';

type Schemas = components['schemas'];

/** Something that a connector has to know besides the key. */
export type Param = Schemas['ConnectorParam'] & {
  /** What is taken if it isn't set. */
  default?: string | null;
};

/** How one provider's API lists what it has sent. */
export type Connector = Omit<Schemas['ConnectorView'], 'params'> & { params: Param[] };

/** Backup sync of a source. */
export type SyncView = Omit<Schemas['SyncView'], 'connector'> & { connector: Connector | null };

/** What is done with an event that was missing. */
export type SyncDelivery = Schemas['SyncDelivery'];

/** What one sync of a source found. */
export type Report = Schemas['SyncReportJson'];

/** A provider's events of a day against ours. */
export type Day = Schemas['DayJson'];

/** A provider's events against ours, by day. */
export type Reconciled = Schemas['Reconciled'];

/** A time when no hookmitt caught anything, as a source sees it. */
export type Away = Schemas['AwayView'];

/** An event, as the provider lists it or as it is here. */
export type Listed = Schemas['ListedJson'];

/** A part of a source's events: in both, only there or only here. */
export type Part = 'both' | 'only_there' | 'only_here';

/** What a provider's API says of a key. */
export type KeyChecked = Schemas['KeyChecked'];

/** A period; without an end, until now. */
export interface Period {
  since?: string | undefined;
  until?: string | undefined;
}

/** What a sync is asked for with. */
export interface SyncOrder extends Period {
  /** Whether what is missing is only shown. */
  dry_run?: boolean;
}

/** A change to how a source is synced. */
export interface SyncChange {
  /** A connector of the user's own; null for the provider's. */
  connector?: object | null;
  params?: Record<string, string | null>;
  delivery?: SyncDelivery;
  every_s?: number | null;
}

/** A page of a list. */
interface PageOf<T> {
  items: T[];
  next_cursor: string | null;
}

const at = (source: string) => ({ params: { path: { source } } });

/** Returns how every source is synced, by name. */
export async function listSyncs(): Promise<SyncView[]> {
  return (await ask(api.GET('/api/sync'))).items as SyncView[];
}

/** Changes how a source is synced. */
export function changeSync(source: string, change: SyncChange): Promise<SyncView> {
  return ask(api.PATCH('/api/sync/{source}', { ...at(source), body: change as Schemas['SyncChange'] }));
}

/** Begins to sync a source. If just that is under way, returns its job. */
export async function beginSync(source: string, order: SyncOrder): Promise<Job> {
  const body = order as Schemas['SyncRequest'];
  return (await ask(api.POST('/api/sync/{source}', { ...at(source), body }))).job;
}

/** Stores the API key of a source, or the name of the variable that holds it. */
export function setApiKey(
  source: string,
  key: { value_base64: string } | { env: string },
): Promise<SyncView> {
  return ask(api.PUT('/api/sync/{source}/key', { ...at(source), body: key }));
}

/** Removes the API key of a source for good. */
export async function removeApiKey(source: string): Promise<void> {
  await ask(api.DELETE('/api/sync/{source}/key', at(source)));
}

/** Asks the provider whether the key is good. */
export function checkApiKey(source: string): Promise<KeyChecked> {
  return ask(api.POST('/api/sync/{source}/check', at(source)));
}

/** Returns a page of what syncs found, newest first. */
export async function listReports(
  source: string,
  cursor: string | null,
  limit: number,
): Promise<PageOf<Report>> {
  const query = cursor === null ? { source, limit } : { source, limit, cursor };
  return (await ask(api.GET('/api/sync-reports', { params: { query } }))) as PageOf<Report>;
}

/** Begins to deliver what a sync added and kept. */
export async function deliverReport(id: number): Promise<Job> {
  return (await ask(api.POST('/api/sync-reports/{id}/deliver', { params: { path: { id } } }))).job;
}

/** Returns a provider's events by day against ours. */
export function readDays(source: string, { since, until }: Period): Promise<Reconciled> {
  const query = { ...(since && { since }), ...(until && { until }) };
  return ask(api.GET('/api/sync/{source}/days', { params: { path: { source }, query } }));
}

/** Returns a page of a part of a source's events, in order of time. */
export async function listPart(
  source: string,
  part: Part,
  { since, until }: Period,
  cursor: string | null,
  limit: number,
): Promise<PageOf<Listed>> {
  const query = { part, limit, ...(since && { since }), ...(until && { until }), ...(cursor && { cursor }) };
  return (await ask(
    api.GET('/api/sync/{source}/events', { params: { path: { source }, query } }),
  )) as PageOf<Listed>;
}
