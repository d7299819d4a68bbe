import { follows } from './phrase';
import type { Explanation, FixLine, Framework, TriedCause } from '../signature/explanation';

const STATES: Record<TriedCause['state'], string> = {
  proven: 'Proven',
  likely: 'Likely',
  ruled_out: 'Ruled out',
};

/** The state of a cause in words. */
export function stateWord(state: TriedCause['state']): string {
  return STATES[state];
}

/** So many of the causes that don't fit are named before the rest is folded. */
const NAMED = 3;

/** The causes as they are listed: those that fit and the first that don't; the others on request. */
export function split(causes: readonly TriedCause[]): { first: TriedCause[]; rest: TriedCause[] } {
  const fits = causes.filter(({ state }) => state !== 'ruled_out');
  const others = causes.filter(({ state }) => state === 'ruled_out');
  return { first: [...fits, ...others.slice(0, NAMED)], rest: others.slice(NAMED) };
}

/** “22 in 9 ms”. */
export function triedWords({ tried, took_ms }: Pick<Explanation, 'tried' | 'took_ms'>): string {
  const took = took_ms < 1 ? 'under 1 ms' : `${Math.round(took_ms).toLocaleString('en')} ms`;
  return `${tried.toLocaleString('en')} in ${took}`;
}

/** The head of an invalid event, always with the word. */
export function invalidTitle(sentence: string): string {
  return /^invalid\b/i.test(sentence) ? sentence : `Invalid: ${follows(sentence)}`;
}

/** Which framework's fix is shown: the one that was chosen before, else the guess, else the first. */
export function chosenFramework(
  frameworks: readonly Framework[],
  kept: string | null,
): Framework | undefined {
  return (
    frameworks.find(({ id }) => id === kept) ?? frameworks.find(({ guessed }) => guessed) ?? frameworks[0]
  );
}

/** A line of a fix with its number in the code as it should be; what goes has none. */
export interface NumberedLine extends FixLine {
  number: number | null;
}

/** Numbers the lines that stay. */
export function numbered(lines: readonly FixLine[]): NumberedLine[] {
  let number = 0;
  return lines.map((line) => ({ ...line, number: line.kind === 'del' ? null : ++number }));
}

/** The code as it should be, to be copied. */
export function fixedCode(lines: readonly FixLine[]): string {
  return lines
    .filter(({ kind }) => kind !== 'del')
    .map(({ text }) => text)
    .join('\n');
}
