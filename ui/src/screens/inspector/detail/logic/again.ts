import type { Event } from '../../../../api/shapes';

/** Why a delivery is skipped that no retry sends unless its event is valid. */
const UNPROVED = ['its signature was rejected', 'waits for its verdict'];

/** Whether a retry may send a delivery that was skipped for that reason. */
export function mayForward(why: string | null | undefined, verdict: Event['verdict']): boolean {
  return verdict === 'valid' || !UNPROVED.includes(why ?? '');
}

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
  const mayGo = all.some((one) => one.status === 'skipped' && mayForward(one.last_error, verdict));
  return mayGo ? 'forward' : null;
}
