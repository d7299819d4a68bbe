import { beforeEach, expect, test } from 'vitest';

import { Pages } from './pages';
import type { Row } from './row';
import { Unfolded } from './unfolded';

const row = (seq: number, first: string | null = null) => ({ id: `e${seq}`, seq, first }) as Row;

let pages: Pages;
let list: Unfolded;

const numbers = (from = 0, to = list.length) => list.slice(from, to).map((one) => one?.seq);

beforeEach(() => {
  pages = new Pages();
  pages.reset([row(9), row(5)]);
  pages.append([row(2), row(1)]);
  list = new Unfolded(pages);
});

test('without repeats it is the pages', () => {
  expect([numbers(), list.length, list.indexOf('e2'), list.shownAt(3), list.inPages(3)]).toEqual([
    [9, 5, 2, 1],
    4,
    2,
    3,
    3,
  ]);
});

test('repeats stand beneath their first, whatever is opened first', () => {
  list.open('e2', [row(3, 'e2'), row(8, 'e2')]);
  list.open('e5', [row(7, 'e5')]);
  expect(numbers()).toEqual([9, 5, 7, 2, 3, 8, 1]);
  expect(numbers(1, 5)).toEqual([5, 7, 2, 3]);
  expect(numbers(6, 99)).toEqual([1]);
  expect(['e9', 'e5', 'e7', 'e2', 'e8', 'e1', 'e77'].map((id) => list.indexOf(id))).toEqual([
    0, 1, 2, 3, 5, 6, -1,
  ]);
  expect([0, 1, 2, 3].map((at) => list.shownAt(at))).toEqual([0, 1, 3, 6]);
  expect([0, 1, 2, 3, 4, 5, 6].map((index) => list.inPages(index))).toEqual([0, 1, 1, 2, 2, 2, 3]);
  list.close('e5');
  expect(numbers()).toEqual([9, 5, 2, 3, 8, 1]);
});

test('new rows above move the repeats with their first', () => {
  list.open('e5', [row(7, 'e5')]);
  pages.prepend([row(10)]);
  expect(numbers()).toEqual([10, 9, 5, 7, 2, 1]);
});

test('repeats come, change and go', () => {
  list.open('e2', [row(3, 'e2'), row(8, 'e2')]);
  expect([list.insert(row(6, 'e2')), list.insert(row(6, 'e2')), list.insert(row(7, 'e5'))]).toEqual([
    true,
    false,
    false,
  ]);
  expect(numbers()).toEqual([9, 5, 2, 3, 6, 8, 1]);
  expect([list.update({ ...row(3, 'e2'), name: 'new' }), list.update(row(9))]).toEqual([true, false]);
  expect(list.slice(3, 4)[0]?.name).toBe('new');
  expect([list.remove('e3'), list.remove('e3')]).toEqual([true, false]);
  expect(numbers()).toEqual([9, 5, 2, 6, 8, 1]);
});

test('repeats of a first that is no longer listed are not shown', () => {
  list.open('e2', [row(3, 'e2')]);
  pages.remove('e2', 2);
  expect([numbers(), list.length, list.indexOf('e3')]).toEqual([[9, 5, 1], 3, -1]);
});
