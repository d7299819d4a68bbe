import type { Matches } from '../../../../editor/match-marks';

/** Goes to the next (1) or the previous (-1) `mark` element within `host`; without a step, says how many there are. */
export function stepThrough(host: HTMLElement, by: 1 | -1 | 0): Matches {
  const marks = [...host.querySelectorAll('mark')];
  const before = marks.findIndex((mark) => 'current' in mark.dataset);
  if (by === 0 || marks.length === 0) return { at: before < 0 ? null : before + 1, of: marks.length };
  const at = before < 0 && by < 0 ? marks.length - 1 : (before + by + marks.length) % marks.length;
  delete marks[before]?.dataset['current'];
  const mark = marks[at]!;
  mark.dataset['current'] = '';
  mark.scrollIntoView({ block: 'center' });
  return { at: at + 1, of: marks.length };
}
