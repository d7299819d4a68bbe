import { expect, test } from 'vitest';

import type { Gap } from '../api/shapes';
import { placeGaps } from './gap-places';
import type { Page } from './pages';
import type { Row } from './row';

const MINUTE = 60_000;
const row = (seq: number) => ({ seq, at: seq * MINUTE }) as Row;
const page = (before: number | null, ...seqs: number[]): Page => ({
  before,
  last: seqs.at(-1)!,
  count: seqs.length,
  rows: seqs.map(row),
});
const gap = (id: number, last: number | null, until = 0): Gap => ({
  id,
  tunnel_id: 1,
  label: 'acme-dev',
  from: new Date(until - MINUTE).toISOString(),
  until: new Date(until).toISOString(),
  why: 'asleep',
  caught_up: 1,
  lost: 0,
  synced: null,
  unrecoverable: null,
  took_ms: 1,
  first_seq: last,
  last_seq: last,
});
const pages = [page(null, 9, 8, 7), page(7, 6, 4, 2)];
const places = (gaps: Gap[], held = false) =>
  placeGaps(gaps, pages, held).map(({ gap, at, more }) => [gap.id, at, more]);

test('a gap stands above the last event that was caught up', () => {
  expect(places([gap(1, 8), gap(2, 6), gap(3, 9)])).toEqual([
    [3, 0, 0],
    [1, 1, 0],
    [2, 3, 0],
  ]);
});

test('where that event is not listed, it stands above the next older one', () => {
  expect(places([gap(1, 5), gap(2, 12)])).toEqual([
    [2, 0, 0],
    [1, 4, 0],
  ]);
});

test('older than all that was read: not yet', () => expect(places([gap(1, 1)])).toEqual([]));

test('while new events are held back, so is the gap that they came after', () => {
  expect(places([gap(1, 12), gap(2, 9)], true)).toEqual([[2, 0, 0]]);
});

test('several at one place are one line, the newest', () => {
  expect(places([gap(1, 5, 5 * MINUTE), gap(2, 4, 4 * MINUTE)])).toEqual([[1, 4, 1]]);
});

test('without an event that was caught up, time says where', () => {
  expect(places([gap(1, null, 6.5 * MINUTE)])).toEqual([[1, 3, 0]]);
});

test('in a stretch that was let go it stands at its beginning', () => {
  const gone = [pages[0]!, { ...pages[1]!, rows: null }];
  expect(placeGaps([gap(1, 4)], gone, false).map(({ at }) => at)).toEqual([3]);
});
