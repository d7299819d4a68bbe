import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { matchesIn, pieces } from './marks';

const marked = (text: string, ...marks: string[]) =>
  pieces(text, marks)
    .map(({ text: part, marked: is }) => (is ? `[${part}]` : part))
    .join('');

test.each([
  ['invoice.paid', ['paid'], 'invoice.[paid]'],
  ['Ada LOVELACE', ['ada', 'love'], '[Ada] [LOVE]LACE'],
  ['aaaa', ['aa'], '[aaaa]'],
  ['İstanbul', ['i\u0307st'], '[İst]anbul'],
  ['İstanbul', ['i'], '[İ]stanbul'],
  ['ΟΔΟΣ', ['οδοσ'], '[ΟΔΟΣ]'],
  ['\u{1F600} ok', ['ok'], '\u{1F600} [ok]'],
  ['nothing', ['x', ''], 'nothing'],
  ['', ['x'], ''],
])('%s with %s', (text, marks, shown) => expect(marked(text, ...marks)).toBe(shown));

test('matches that overlap are one', () =>
  expect(matchesIn('abcd', ['abc', 'bcd'])).toEqual([{ from: 0, to: 4 }]));

test('no more are found than were asked for', () =>
  expect(matchesIn('a b a b a', ['a', 'b'], 2)).toEqual([
    { from: 0, to: 1 },
    { from: 2, to: 3 },
  ]));

test('the pieces of any text are that text', () =>
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.string({ unit: 'binary' })), (text, marks) => {
      const lower = marks.map((mark) => mark.toLowerCase());
      expect(
        pieces(text, lower)
          .map((piece) => piece.text)
          .join(''),
      ).toBe(text);
    }),
  ));
