import type { Event } from '../../../../api/shapes';

const REJECTED = 'its signature was rejected';

/**
 * What "send again" means for an event: a retry where something failed or died; forwarding where nothing was sent on
 * purpose. Null where there is nothing to be sent again.
 */
export function againOf({
  deliveries,
  verdict,
}: Pick<Event, 'deliveries' | 'verdict'>): 'retry' | 'forward' | null {
  const all = deliveries ?? [];
  if (all.some(({ status }) => status === 'failed' || status === 'dead_letter')) return 'retry';
  const mayGo = all.some(
    (one) => one.status === 'skipped' && (verdict === 'valid' || one.last_error !== REJECTED),
  );
  return mayGo ? 'forward' : null;
}
