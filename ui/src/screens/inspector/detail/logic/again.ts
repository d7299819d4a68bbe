import type { Event } from '../../../../api/shapes';

/** Reasons for skipping a delivery that a retry overrides only if the event is valid. */
const UNPROVED = ['its signature was rejected', 'waits for its verdict'];

/** Whether a retry may send a delivery that was skipped for this reason. */
export function mayForward(why: string | null | undefined, verdict: Event['verdict']): boolean {
  return verdict === 'valid' || !UNPROVED.includes(why ?? '');
}

/**
 * Says what "send again" means for an event: a retry if a delivery failed or is a dead letter, forwarding if a delivery
 * was skipped. Null if there is nothing to send again.
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
