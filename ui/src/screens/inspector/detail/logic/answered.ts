import type { Event, SenderAnswer } from '../../../../api/shapes';
import { tookText } from './timeline';

type Answered = Pick<Event, 'answered'>;

/** Says what the sender was answered: `answered 200`; if nobody asked, or it isn't known, that the event is stored. */
export function answeredText({ answered }: Answered): string {
  return answered ? said(answered) : 'stored';
}

/** Says how long the sender waited: `3 ms`; empty if that isn't known. */
export function answeredIn({ answered }: Answered): string {
  return answered?.after_ms == null ? '' : tookText({ duration_ms: answered.after_ms, ambiguous: false });
}

/** Says both, to go on after when the event was received: `answered 200 after 3 ms`; null if neither is known. */
export function answeredSentence(event: Answered): string | null {
  if (!event.answered) return null;
  const took = answeredIn(event);
  return `${answeredText(event)}${took && ` after ${took}`}`;
}

function said({ by, status }: SenderAnswer): string {
  if (by === 'channel') return 'answered by the channel';
  if (by === 'hookmitt') return `answered ${status}`;
  return status === null ? 'answered by the relay' : `${status} passed to the relay`;
}
