import type { Event } from '../../../../api/shapes';
import type { Check, Judged } from './verdict';

/** Returns the parts of an event from which its verdict is explained. */
export function judgedOf(event: Event, check: Check | null, sender: string | null): Judged {
  return {
    verdict: event.verdict,
    causes: event.causes,
    sender,
    source: event.source,
    receivedAt: event.received_at,
    size: event.size,
    isSetUp: event.handshake_answer != null,
    uncovered: event.uncovered ?? null,
    check,
  };
}
