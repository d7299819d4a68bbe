import type { Event } from '../../../../api/shapes';

/** Reasons for skipping a delivery that a retry overrides only if the event is valid. */
const UNPROVED = ['its signature was rejected', 'waits for its verdict'];

/** Whether a retry may send a delivery that was skipped for this reason. */
export function mayForward(why: string | null | undefined, verdict: Event['verdict']): boolean {
  return verdict === 'valid' || !UNPROVED.includes(why ?? '');
}

/** Whether a delivery of an event was skipped and may be forwarded. */
export function canForward({ deliveries, verdict }: Pick<Event, 'deliveries' | 'verdict'>): boolean {
  return (deliveries ?? []).some((one) => one.status === 'skipped' && mayForward(one.last_error, verdict));
}
