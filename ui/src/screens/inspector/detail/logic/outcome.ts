import type { components } from '../../../../api/schema.gen';
import { visible } from '../../../../format/words';
import { downReason } from '../../../../format/delivery';

/** The outcome of a delivery's first attempt. */
type Outcome = components['schemas']['AttemptLine'];

/** The words for success and failure, and the target. */
interface Deed {
  done: string;
  not: string;
  /** `localhost:3000` */
  target: string;
}

/** Returns what a toast says about a first attempt. */
export function outcomeSentence(
  outcome: Outcome,
  { done, not, target }: Deed,
): { good: boolean; text: string } {
  const { status, response_status: answer, error } = outcome;
  if (status === 'completed') return { good: true, text: `${done} to ${target}: ${answer ?? 'answered'}` };
  if (answer != null) return { good: false, text: `${done} to ${target}: the answer was ${answer}` };
  const why = visible(downReason(error));
  if (status === 'pending') return { good: true, text: `Waiting for ${target}: ${why}` };
  return { good: false, text: `${not} to ${target}: ${why}` };
}
