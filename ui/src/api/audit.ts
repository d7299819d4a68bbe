import { api, ask } from './client';
import type { components } from './schema.gen';

/** An entry of the audit trail. */
export type AuditEntry = components['schemas']['AuditJson'];

/** What was done. */
export type Deed = components['schemas']['Deed'];

/** Which entries are wanted; what is absent doesn't matter. */
export interface AuditFilter {
  who?: string;
  what?: string;
  /** RFC 3339. */
  since?: string;
}

/** A page of the audit trail. */
export interface AuditPage {
  items: AuditEntry[];
  next_cursor: string | null;
}

/** Returns a page of the audit trail, newest first. */
export async function listAudit(
  filter: AuditFilter,
  cursor: string | null,
  limit: number,
): Promise<AuditPage> {
  const query = { ...filter, limit, ...(cursor === null ? {} : { cursor }) };
  return (await ask(api.GET('/api/audit', { params: { query } }))) as AuditPage;
}
