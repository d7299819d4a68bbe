import type { Delivery, Target, Verdict } from '../../../../api/shapes';
import type { DeliveryIcon } from '../../../../parts/deliveryIcons';
import { count } from '../../../../format/count';
import { KEPT_BY_SYNC, downReason } from '../../../../format/delivery';
import { HELD } from '../../../../format/target';
import { clockTime } from '../../../../format/time';
import { unreached } from '../../../../format/why';
import { mayForward } from './again';
import { ordinal } from './phrase';

/** What the user can do about a delivery. */
export type DeliveryAction = 'retry' | 'forward' | 'deliver' | 'try' | 'resume';

/** The state of a delivery in words. */
export interface DeliveryWords {
  icon: DeliveryIcon;
  tone: 'ok' | 'waits' | 'failed' | 'moves' | 'quiet';
  /** The text beside the target: “completed on attempt 3 of 5”. */
  state: string;
  /** The moment to which the state counts down. */
  until: number | null;
  /** A line below, if there is more to say. */
  detail: string | null;
  action: DeliveryAction | null;
}

/** What is known about the target and the event of a delivery. */
export interface Surroundings {
  /** The target as it is now; undefined if it was removed, or for a replay to a URL. */
  target: Target | undefined;
  /** The number of deliveries that wait for the target. */
  waiting: number;
  verdict: Verdict;
}

const UNCLEAR = 'No answer after the request was sent: it may have arrived.';

/** Says how a delivery stands and what the user can do about it. */
export function deliveryWords(delivery: Delivery, around: Surroundings): DeliveryWords {
  const words = { until: null, detail: null, action: null };
  switch (delivery.status) {
    case 'completed':
      return { ...words, icon: 'done', tone: 'ok', state: `completed on ${attemptOf(delivery, around)}` };
    case 'processing':
      return {
        ...words,
        icon: 'sending',
        tone: 'moves',
        state: `sending, ${attemptOf(delivery, around, 1)}`,
      };
    case 'pending':
      return { ...words, ...pending(delivery, around) };
    case 'failed':
      return {
        ...words,
        icon: 'failed',
        tone: 'failed',
        state: 'failed',
        detail: final(delivery),
        action: 'retry',
      };
    case 'dead_letter':
      return {
        ...words,
        icon: 'dead',
        tone: 'failed',
        state: 'dead letter',
        detail: gaveUp(delivery),
        action: 'retry',
      };
    case 'skipped':
      if (delivery.last_error === KEPT_BY_SYNC)
        return {
          ...words,
          icon: 'skipped',
          tone: 'quiet',
          state: `not delivered: ${KEPT_BY_SYNC}`,
          action: 'deliver',
        };
      return { ...words, icon: 'skipped', tone: 'quiet', state: 'skipped', ...skipped(delivery, around) };
  }
}

function attemptOf(delivery: Delivery, { target }: Surroundings, ahead = 0): string {
  const number = delivery.attempts.length + ahead;
  return target && target.attempts >= number
    ? `attempt ${number} of ${target.attempts}`
    : `attempt ${number}`;
}

type Pending = Pick<DeliveryWords, 'icon' | 'tone' | 'state'> & Partial<DeliveryWords>;

function pending(delivery: Delivery, around: Surroundings): Pending {
  const { target } = around;
  const waits: Pending = { icon: 'waiting', tone: 'waits', state: waiting(delivery.queue, around.waiting) };
  if (target?.paused) {
    const detail = 'Paused by hand. No attempt is used up; sending starts when the target is resumed.';
    return { ...waits, detail, action: 'resume' };
  }
  if (target?.state.is === 'silent') {
    const { since, why } = target.state;
    const paused = `Paused at ${clockTime(since)}: ${unreached(why)}.`;
    return { ...waits, detail: `${paused} ${HELD}`, action: 'try' };
  }
  const last = delivery.attempts.at(-1);
  if (!last) return { icon: 'pending', tone: 'quiet', state: 'waiting for its turn' };
  const until = delivery.next_attempt_at ? Date.parse(delivery.next_attempt_at) : null;
  const detail = last.ambiguous ? UNCLEAR : null;
  return {
    icon: 'retry',
    tone: 'waits',
    state: attemptOf(delivery, around, 1),
    until,
    detail,
    action: 'retry',
  };
}

/**
 * Says where a delivery stands in its target's queue: `waiting, 11th of 14 for this target`. `now` is how many wait for
 * the target by the newest count, which the strip shows, too.
 */
function waiting(queue: Delivery['queue'], now: number): string {
  if (!queue) return 'waiting';
  const of = now > 0 ? Math.max(now, queue.place) : queue.of;
  return of > 1 ? `waiting, ${ordinal(queue.place)} of ${count(of)} for this target` : 'waiting';
}

function final(delivery: Delivery): string {
  const last = delivery.attempts.at(-1);
  if (!last) return sentence(delivery.last_error ?? 'It could not be sent');
  if (last.ambiguous) return UNCLEAR;
  const status = last.response_status;
  if (status == null) return sentence(last.error ?? 'It could not be sent');
  if (status >= 300 && status < 400)
    return `The answer was ${status}. Redirects aren’t followed, so it isn’t retried.`;
  return `The answer was ${status}, which is final, so it isn’t retried.`;
}

function gaveUp(delivery: Delivery): string {
  const tries = delivery.attempts.length;
  const gave = `Gave up after ${tries} ${tries === 1 ? 'attempt' : 'attempts'}`;
  const last = delivery.attempts.at(-1);
  if (!last) return `${gave}.`;
  if (last.ambiguous) return `${gave}. ${UNCLEAR}`;
  if (last.response_status == null) return `${gave}: ${downReason(last.error)}.`;
  return `${gave}; the last answer was ${last.response_status}.`;
}

/** Maps the inbox's reasons for skipping a delivery to the words shown here. */
const SKIPPED: Record<string, string> = {
  'a duplicate of an event that this target has or gets':
    'A duplicate: this target already has the event, or will get it.',
  'its signature was rejected': 'Nothing proves that it is genuine, and its source rejects such events.',
  'waits for its verdict':
    'Waits for its verdict. It is sent once it is found genuine: automatically within a day, later by hand.',
  'its verdict came after more than a day':
    'It was found genuine after more than a day, so it is only sent by hand.',
  'it was sent by a web page': 'It was sent by a web page from another origin.',
  'it was sent by a web page as a form: of sign-ins, only GET callbacks are forwarded':
    'A web page posted it as a form: for sign-ins, only GET callbacks are forwarded.',
  "it was called by a name that is not this machine's":
    'It was called by a host name that isn’t this machine’s.',
  'it is a delivery of ours that came back: a loop': 'One of our own deliveries came back: a loop.',
};

function skipped(
  { last_error }: Delivery,
  { verdict }: Surroundings,
): Pick<DeliveryWords, 'detail' | 'action'> {
  const why = last_error ?? '';
  const action = mayForward(why, verdict) ? 'forward' : null;
  return { detail: SKIPPED[why] ?? (why ? sentence(why) : null), action };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
}

/**
 * Whether the app rejects an event that is genuine: its last answer is one that apps give when they don’t accept a
 * signature.
 */
export function isRejected({ attempts }: Pick<Delivery, 'attempts'>, verdict: Verdict): boolean {
  return verdict === 'valid' && [400, 401, 403].includes(attempts.at(-1)?.response_status ?? 0);
}
