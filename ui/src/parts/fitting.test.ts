import { expect, test } from 'vitest';

import { fitting } from './fitting';

const things = ['a', 'b', 'c', 'd'];
const room = { gap: 10, more: 30, keep: 0 };
const widths = [50, 50, 50, 50];

test('all, where they fit', () => expect(fitting(things, widths, 230, room)).toEqual(things));
test('the first ones, where they don’t', () =>
  expect(fitting(things, widths, 229, room)).toEqual(['a', 'b', 'c']));
test('the one in use is always in sight', () => {
  expect(fitting(things, widths, 160, { ...room, keep: 3 })).toEqual(['a', 'd']);
});
test('all, while nothing is measured', () => expect(fitting(things, [], 0, room)).toEqual(things));
