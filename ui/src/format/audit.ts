import type { AuditEntry, Deed } from '../api/audit';
import { counted } from './count';
import { visible } from './words';

const DEEDS: Record<Deed, string> = {
  deleted: 'Deleted',
  restored: 'Restored',
  deleted_for_good: 'Deleted for good',
  exported_raw: 'Exported unredacted',
  confirmed: 'Confirmed',
  replayed_elsewhere: 'Replayed elsewhere',
  source_added: 'Source added',
  source_changed: 'Source changed',
  source_removed: 'Source removed',
  secret_set: 'Secret set',
  secret_removed: 'Secret removed',
  api_key_set: 'API key set',
  api_key_removed: 'API key removed',
  synced: 'Synced',
  target_added: 'Target added',
  target_changed: 'Target changed',
  target_removed: 'Target removed',
  device_revoked: 'Device revoked',
  retention_changed: 'Retention changed',
  backed_up: 'Backed up',
  restored_backup: 'Backup restored',
};

/** All deeds, in the order in which they are offered. */
export const ALL_DEEDS = Object.keys(DEEDS) as Deed[];

/** Names what was done. */
export function deedName(what: Deed): string {
  return DEEDS[what] ?? String(what).replaceAll('_', ' ');
}

/** Says in one line what a deed was about, besides its event: `stripe-test, http://localhost:3000, label Test mode`. */
export function deedAbout({ source, target, detail }: AuditEntry): string {
  const { events, job, ...rest } = detail;
  const parts = [source, target, job == null ? null : `job ${String(job)}`];
  if (typeof events === 'number') parts.push(counted(events, 'event'));
  for (const [name, value] of Object.entries(rest))
    if (name !== 'target_id' && value !== false) parts.push(`${name} ${told(value)}`);
  return visible(parts.filter((part) => part != null && part !== '').join(', '));
}

function told(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
