import { follows } from './phrase';
import type { Explanation, FixLine, Framework, TriedCause } from '../signature/explanation';

const STATES: Record<TriedCause['state'], string> = {
  proven: 'Proven',
  likely: 'Likely',
  ruled_out: 'Ruled out',
};

/** Returns the state of a cause in words. */
export function stateWord(state: TriedCause['state']): string {
  return STATES[state];
}

/** How many of the ruled-out causes are listed before the rest is folded. */
const NAMED = 3;

/**
 * Splits the causes: first those that fit and a few ruled-out ones, then the rest, which is shown on request. That no
 * secret fits is left out, because it is what follows from the others.
 */
export function split(causes: readonly TriedCause[]): { first: TriedCause[]; rest: TriedCause[] } {
  const fits = causes.filter(({ code, state }) => state !== 'ruled_out' && code !== 'no_match');
  const others = causes.filter(({ state }) => state === 'ruled_out');
  return { first: [...fits, ...others.slice(0, NAMED)], rest: others.slice(NAMED) };
}

/** Says how many causes were tried, how long that took, and whether none is left: “All ruled out, 22 in 9 ms”. */
export function triedWords({
  tried,
  took_ms,
  causes,
}: Pick<Explanation, 'tried' | 'took_ms' | 'causes'>): string {
  const took = took_ms < 1 ? 'under 1 ms' : `${Math.round(took_ms).toLocaleString('en')} ms`;
  const counted = `${tried.toLocaleString('en')} in ${took}`;
  const left = causes.some(({ code, state }) => state !== 'ruled_out' && code !== 'no_match');
  return left ? counted : `All ruled out, ${counted}`;
}

/** Returns the title of an invalid event; it always contains the word “invalid”. */
export function invalidTitle(sentence: string): string {
  return /^invalid\b/i.test(sentence) ? sentence : `Invalid: ${follows(sentence)}`;
}

/** Returns the framework whose fix is shown: the one chosen before, else the guessed one, else the first. */
export function chosenFramework(
  frameworks: readonly Framework[],
  kept: string | null,
): Framework | undefined {
  return (
    frameworks.find(({ id }) => id === kept) ?? frameworks.find(({ guessed }) => guessed) ?? frameworks[0]
  );
}

/** A line of a fix with its number in the fixed code; removed lines have no number. */
export interface NumberedLine extends FixLine {
  number: number | null;
}

/** Numbers the lines that remain in the fixed code. */
export function numbered(lines: readonly FixLine[]): NumberedLine[] {
  let number = 0;
  return lines.map((line) => ({ ...line, number: line.kind === 'del' ? null : ++number }));
}

/** Returns the fixed code, for copying. */
export function fixedCode(lines: readonly FixLine[]): string {
  return lines
    .filter(({ kind }) => kind !== 'del')
    .map(({ text }) => text)
    .join('\n');
}
