import { expect, test } from 'vitest';

import { gapTop, heightAt, heightOfAll, indexAt, topOf, visibleRange } from './metrics';

const plain = { row: 32, gap: 28, gaps: [] };
const spread = { row: 32, gap: 28, gaps: [0, 3] };

test('gap lines push down the rows below them', () => {
  expect([0, 2, 3, 4].map((index) => topOf(index, spread))).toEqual([28, 92, 152, 184]);
  expect([0, 1].map((n) => gapTop(n, spread))).toEqual([0, 124]);
  expect(heightOfAll(10, spread)).toBe(376);
});

test('a height says which row is there; a gap line belongs to the row below it', () => {
  expect([0, 27, 28, 60, 123, 124, 151, 152, 200].map((y) => indexAt(y, spread))).toEqual([
    0, 0, 0, 1, 2.96875, 3, 3, 3, 4.5,
  ]);
  expect(indexAt(320, plain)).toBe(10);
});

test('what is at a height comes back to it', () => {
  for (const y of [28, 60, 100, 152, 200, 375]) expect(heightAt(indexAt(y, spread), spread)).toBe(y);
});

test('rows in sight are drawn, and a few beyond', () => {
  expect(visibleRange(0, 320, 1_000, plain)).toEqual({ from: 0, to: 18 });
  expect(visibleRange(32_000, 320, 10_000, plain)).toEqual({ from: 992, to: 1018 });
  expect(visibleRange(32_000, 320, 10_000, { ...plain, gaps: [10, 20, 9_000] }).from).toBe(990);
  expect(visibleRange(0, 320, 3, spread)).toEqual({ from: 0, to: 3 });
});

test('rows are drawn in a list that has become shorter than it is scrolled', () => {
  expect(visibleRange(32_000, 320, 500, plain)).toEqual({ from: 482, to: 500 });
});
