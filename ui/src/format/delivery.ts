import type { GlanceDelivery } from '../api/shapes';
import type { DeliveryIcon } from '../parts/deliveryIcons';
import { counted } from './count';
import { duration } from './duration';
import { host } from './words';

/** The reason of a delivery that backup sync leaves to a person. */
export const KEPT_BY_SYNC = 'kept by backup sync';

/** How a row shows a delivery. */
export interface DeliveryShown {
  icon: DeliveryIcon | null;
  tone: 'quiet' | 'plain' | 'moves' | 'waits' | 'unclear' | 'failed';
  word: string | null;
  /** What a screen reader says if no word is shown. */
  name: string;
  /** The moment to which the word counts down. */
  until: number | null;
  status: number | null;
  took: number | null;
  /** The full sentence, for the tooltip. */
  said: string;
}

type Look = Pick<DeliveryShown, 'icon' | 'tone' | 'word' | 'name'> & Partial<DeliveryShown>;

/** Returns the look and the words of an event's worst delivery; null stands for an event without a target. */
export function deliveryState(delivery: GlanceDelivery | null): DeliveryShown {
  if (!delivery)
    return shown({ icon: null, tone: 'quiet', word: null, name: 'Captured' }, 'Captured; it has no target');
  const more =
    delivery.count > 1 ? `; ${counted(delivery.count - 1, 'more delivery', 'more deliveries')}` : '';
  const look = lookOf(delivery);
  return shown(look, `${host(delivery.target)}: ${sentence(delivery, look)}${more}`);
}

function shown(look: Look, said: string): DeliveryShown {
  return { until: null, status: null, took: null, ...look, said };
}

function lookOf(delivery: GlanceDelivery): Look {
  const answer = { status: delivery.response_status, took: delivery.duration_ms };
  switch (delivery.status) {
    case 'completed':
      return { icon: 'done', tone: 'quiet', word: null, name: 'Completed', ...answer };
    case 'processing':
      return { icon: 'sending', tone: 'moves', ...called('Sending') };
    case 'dead_letter':
      return { icon: 'dead', tone: 'failed', ...called('Dead letter') };
    case 'skipped':
      return {
        icon: 'skipped',
        tone: 'quiet',
        ...called(delivery.error === KEPT_BY_SYNC ? 'Kept' : 'Skipped'),
      };
    case 'failed':
      if (delivery.ambiguous) return { icon: 'unclear', tone: 'unclear', ...called('No answer') };
      if (delivery.response_status === null) return { icon: 'failed', tone: 'failed', ...called('Failed') };
      return { icon: 'failed', tone: 'failed', word: null, name: 'Failed', ...answer };
    case 'pending':
      return pending(delivery);
  }
}

function called(word: string) {
  return { word, name: word };
}

function pending(delivery: GlanceDelivery): Look {
  if (delivery.waiting) return { icon: 'waiting', tone: 'waits', ...called('Waiting') };
  if (delivery.ambiguous) return { icon: 'unclear', tone: 'unclear', ...called('No answer') };
  if (delivery.next_attempt_at !== null && delivery.duration_ms !== null) {
    return { icon: 'retry', tone: 'waits', ...called('Retry'), until: Date.parse(delivery.next_attempt_at) };
  }
  return { icon: 'pending', tone: 'plain', ...called('Pending') };
}

function sentence(delivery: GlanceDelivery, look: Look): string {
  const parts = [look.name.toLowerCase()];
  if (delivery.response_status !== null) parts.push(`answered ${delivery.response_status}`);
  else if (delivery.error) parts.push(delivery.error);
  if (look.took != null) parts.push(`in ${duration(look.took)}`);
  return parts.join(', ');
}

/** Returns why nobody answers at a target, in a few words: `connection refused`. */
export function downReason(error: string | null | undefined): string {
  if (!error) return 'nobody answers';
  if (/connection refused/i.test(error)) return 'connection refused';
  return error.replace(/\.$/, '');
}
