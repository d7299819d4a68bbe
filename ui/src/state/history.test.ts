import { expect, test } from 'vitest';

import type { Gap } from '../api/shapes';
import { readAgain, type History } from './history';

const gaps = (...ids: number[]) => ids.map((id) => ({ id }) as Gap);
const past = (next: string | null, ...ids: number[]): History => ({
  items: gaps(...ids),
  next,
  problem: null,
});

test('what was read on stays when the first page is read again', () => {
  expect(readAgain(past('1', 5, 4, 3, 2), past('4', 6, 5, 4))).toEqual(past('1', 6, 5, 4, 3, 2));
  expect(readAgain(past(null, 5, 4, 3), past('4', 6, 5, 4))).toEqual(past(null, 6, 5, 4, 3));
});

test('a page that is whole, new or leads nowhere known stands for itself', () => {
  expect(readAgain(undefined, past('4', 6, 5, 4))).toEqual(past('4', 6, 5, 4));
  expect(readAgain(past('4', 5, 4), past(null, 6, 5))).toEqual(past(null, 6, 5));
  expect(readAgain(past('1', 3, 2), past('7', 9, 8, 7))).toEqual(past('7', 9, 8, 7));
  expect(readAgain(past('4', 6, 5, 4), past('4', 6, 5, 4))).toEqual(past('4', 6, 5, 4));
});
