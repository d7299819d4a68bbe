import type { Event, EventStatus } from '../../../../api/shapes';
import { visible } from '../../../../format/words';
import type { ChangedValue, Difference } from './compare-bodies';
import { list, ordinal, type Phrase } from './phrase';

/** A copy of an event, compared with the first. */
export interface Copy {
  event: Event;
  /** Its place among the copies; the first has 1. */
  number: number;
  /** Null for the first copy, and until the bodies are loaded. */
  difference: Difference | null;
}

const WORDS: Record<EventStatus, string> = {
  completed: 'forwarded',
  skipped: 'skipped',
  failed: 'failed',
  dead_letter: 'dead letter',
  processing: 'sending',
  pending: 'waiting',
  captured: 'captured',
};

/** Says in a word what became of a copy. A completed delivery counts for more than one that waits. */
export function copyDelivery(event: Event): string {
  const arrived = event.deliveries?.some((delivery) => delivery.status === 'completed');
  return arrived ? WORDS.completed : WORDS[event.status];
}

/** Says in a few words how a copy differs from the first. */
export function comparison(difference: Difference): string {
  switch (difference.kind) {
    case 'identical':
      return 'identical';
    case 'values':
      return difference.values.length === 1 ? '1 value differs' : `${difference.values.length} values differ`;
    case 'written':
      return 'written differently';
    case 'bytes':
      return `differs at byte ${difference.at}`;
    case 'large':
      return 'other bytes';
  }
}

/** How many differing values a sentence names. */
const NAMED = 3;

/** Says what differs between a copy and the first, and what became of the copy; null if nothing differs. */
export function conflictSentence(copy: Copy): Phrase | null {
  const which = ordinal(copy.number);
  const { difference } = copy;
  if (!difference || difference.kind === 'identical') return null;
  const kept = copy.event.status === 'skipped' ? ` The ${which} was stored but not forwarded.` : '';
  if (difference.kind === 'values') return [...values(difference.values, which), `.${kept}`];
  if (difference.kind === 'written')
    return [`The ${which} has the same values as the first, written differently.${kept}`];
  if (difference.kind === 'bytes')
    return [`The ${which} differs from the first one from byte ${difference.at} on.${kept}`];
  return [`The ${which} has other bytes than the first; they are too many to compare here.${kept}`];
}

function values(changed: ChangedValue[], which: string): Phrase {
  const named = changed.slice(0, NAMED).map((value) => one(value, which));
  const more = changed.length - named.length;
  const all: Phrase[] =
    more > 0 ? [...named, [more === 1 ? '1 more value differs' : `${more} more values differ`]] : named;
  return list(all, (glue) => [glue]).flat();
}

function one({ pointer, first, other }: ChangedValue, which: string): Phrase {
  const name = { mono: visible(pointer || 'the whole body') };
  if (first === null) return [name, ` is only in the ${which}`];
  if (other === null) return [name, ` is only in the first`];
  return [
    name,
    ' is ',
    { mono: short(first) },
    ' in the first and ',
    { mono: short(other) },
    ` in the ${which}`,
  ];
}

const LONGEST = 60;

function short(value: string): string {
  const letters = [...value];
  return visible(letters.length <= LONGEST ? value : `${letters.slice(0, LONGEST - 1).join('')}…`);
}
