import { expect, it } from 'vitest';
import { byteRows } from './byte-lines';
import { firstWindow, hiddenWords, nextChange, widened } from './byte-window';
import { shownBytes } from './shown-bytes';

const bytes = (value: unknown, space?: number) =>
  new TextEncoder().encode(JSON.stringify(value, null, space));
const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, at]));

it('shows the first rows from just before the first change, and counts the rest', () => {
  const spaced = byteRows(bytes(many), bytes(many, 2));
  expect(firstWindow(spaced)).toEqual({ from: 0, to: 8 });
  expect(hiddenWords(spaced, firstWindow(spaced))).toBe('14 more lines, 13 of them with the same change');
  const changed = byteRows(bytes(many), bytes({ ...many, k15: 'x' }));
  expect(firstWindow(changed)).toEqual({ from: 14, to: 22 });
  expect(hiddenWords(changed, firstWindow(changed))).toBe('14 more lines, nothing changed in them');
  expect(hiddenWords(changed, { from: 0, to: changed.length })).toBeNull();
});

it('goes from change to change', () => {
  const rows = byteRows(bytes(many), bytes({ ...many, k3: 'x', k15: 'y' }));
  const first = nextChange(rows, -1)!;
  const second = nextChange(rows, first)!;
  expect([first, second, nextChange(rows, second)]).toEqual([4, 16, null]);
  expect(widened({ from: 2, to: 10 }, second, rows.length)).toEqual({ from: 2, to: 22 });
});

it('gives changed white space marks, and leaves out line ends that are the same', () => {
  expect(shownBytes('  \r\n\t', true)).toBe('··␍⏎→');
  expect(shownBytes('\ufeff', true)).toBe('⟨U+FEFF⟩');
  expect(shownBytes('a\n', false)).toBe('a');
});
