import { downReason } from '../../format/delivery';
import type { TargetView } from '../../setup/types';

/** The state of a target in one word, with a sentence if there is more to say. */
export interface TargetState {
  tone: 'ok' | 'waits';
  word: string;
  says: string | null;
}

/** Returns a target's last known state. */
export function stateOf(target: Pick<TargetView, 'paused' | 'down_since' | 'down_error'>): TargetState {
  if (target.paused) return { tone: 'waits', word: 'Paused', says: null };
  if (target.down_since == null) return { tone: 'ok', word: 'Up', says: null };
  const since = new Date(target.down_since).toLocaleTimeString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
  });
  const says = `Paused at ${since}: ${downReason(target.down_error)}. No attempt is used up; sending starts when the port answers.`;
  return { tone: 'waits', word: 'Waiting', says };
}
