import type { Target } from '../api/shapes';
import { wait } from './duration';
import { moment } from './gap';
import type { Tone } from './tunnel';
import { capital } from './words';
import { unreached } from './why';

/** How long ago an answer may be for a target to be called up. Targets that are shown are looked at more often. */
const FRESH = 60_000;

/** What is known of a target, for people. */
export interface TargetWords {
  condition: 'up' | 'answered' | 'untried' | 'silent' | 'paused';
  tone: Tone;
  /** In few words: `up`, `answered 13 min ago`, `not tried yet`, `nobody answers`, `paused`. */
  word: string;
  /** The same at the beginning of a line. */
  label: string;
  /** Since when nobody answers, and why; null if somebody may. */
  says: string | null;
}

/** Returns what is known of a target. Every place that tells of it asks here. */
export function targetWords({ paused, state }: Pick<Target, 'paused' | 'state'>, now: number): TargetWords {
  const says = silence(state, now);
  if (paused) return words('paused', 'warn', 'paused', says);
  switch (state.is) {
    case 'untried':
      return words('untried', 'none', 'not tried yet', says);
    case 'silent':
      return words('silent', 'warn', 'nobody answers', says);
    case 'answered': {
      const ago = now - Date.parse(state.at);
      if (ago < FRESH) return words('up', 'ok', 'up', says);
      return words('answered', 'none', `answered ${wait(ago)} ago`, says);
    }
  }
}

function words(
  condition: TargetWords['condition'],
  tone: Tone,
  word: string,
  says: string | null,
): TargetWords {
  return { condition, tone, word, label: capital(word), says };
}

/** Says since when nobody answers, and why: `Nobody answers since 14:02: connection refused.` */
function silence(state: Target['state'], now: number): string | null {
  if (state.is !== 'silent') return null;
  return `Nobody answers since ${moment(Date.parse(state.since), now)}: ${unreached(state.why)}.`;
}

/** Says what becomes of what waits for a target at which nobody answers. */
export const HELD = 'No attempt is used up; sending starts when the port answers.';
