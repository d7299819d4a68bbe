import { expect, it } from 'vitest';
import { lineEnds } from './line-ends';

it('names the end of each line but the last', () => {
  expect(lineEnds('a\r\nb\nc\rd')).toEqual(['CR⏎', '⏎', 'CR']);
  expect(lineEnds('a\n')).toEqual(['⏎']);
  expect(lineEnds('')).toEqual([]);
});
