import { expect, test } from 'vitest';

import { PAGE, Pages } from './pages';
import type { Row } from './row';

const row = (seq: number) => ({ id: `e${seq}`, seq }) as Row;
/** Returns rows from one number down to another. */
const rows = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, n) => row(from - n));
const numbers = (pages: Pages, from = 0, to = pages.length) => pages.slice(from, to).map((one) => one?.seq);

test('pages join into one list', () => {
  const pages = new Pages();
  pages.reset(rows(10, 6));
  pages.append(rows(5, 1));
  expect(pages.length).toBe(10);
  expect(numbers(pages, 3, 7)).toEqual([7, 6, 5, 4]);
  expect([pages.indexOf('e4'), pages.indexOf('e99')]).toEqual([6, -1]);
  expect([pages.newest, pages.oldest]).toEqual([10, 1]);
});

test('new rows go to the top, and the top does not grow without end', () => {
  const pages = new Pages();
  pages.reset(rows(PAGE, 1));
  for (let seq = PAGE + 1; seq <= 5 * PAGE; seq += 1) pages.prepend([row(seq)]);
  expect(pages.length).toBe(5 * PAGE);
  expect(Math.max(...pages.list.map((page) => page.count))).toBeLessThanOrEqual(2 * PAGE);
  expect(numbers(pages, 0, 3)).toEqual([5 * PAGE, 5 * PAGE - 1, 5 * PAGE - 2]);
});

test('a page that comes to the top because the one above it is empty takes new rows in', () => {
  const pages = new Pages();
  pages.reset([row(9)]);
  pages.append([row(3)]);
  pages.prepend([row(12)]);
  pages.remove('e12', 12);
  pages.remove('e9', 9);
  pages.prepend([row(15)]);
  expect(pages.update({ ...row(15), name: 'new' })).toBe(true);
  expect(pages.remove('e15', 15)).toBe(true);
  expect(numbers(pages)).toEqual([3]);
});

test('rows are replaced, put in and taken out by their number', () => {
  const pages = new Pages();
  pages.reset([row(9), row(7)]);
  pages.append([row(3)]);
  expect(pages.update({ ...row(7), name: 'new' })).toBe(true);
  expect(pages.slice(1, 2)[0]?.name).toBe('new');
  expect([pages.update(row(8)), pages.insert(row(8)), pages.insert(row(8))]).toEqual([false, true, false]);
  expect(pages.insert(row(5))).toBe(true);
  expect(numbers(pages)).toEqual([9, 8, 7, 5, 3]);
  expect([pages.remove('e9', 9), pages.remove('e3', 3), pages.remove('e3', 3)]).toEqual([true, true, false]);
  expect(numbers(pages)).toEqual([8, 7, 5]);
});

test('what is older than the list is not put in', () => {
  const pages = new Pages();
  pages.reset([row(9), row(7)]);
  expect(pages.insert(row(2))).toBe(false);
});

test('far rows are let go and can be filled again', () => {
  const pages = new Pages();
  pages.reset(rows(60 * PAGE, 59 * PAGE + 1));
  for (let page = 59; page > 0; page -= 1) pages.append(rows(page * PAGE, (page - 1) * PAGE + 1));
  pages.letGo(45 * PAGE, 45 * PAGE + 40);
  expect(pages.length).toBe(60 * PAGE);
  expect(pages.list.filter((page) => page.rows).length).toBe(40);
  expect(numbers(pages, 45 * PAGE, 45 * PAGE + 2)).toEqual([15 * PAGE, 15 * PAGE - 1]);
  expect(numbers(pages, 10 * PAGE, 10 * PAGE + 1)).toEqual([undefined]);
  expect(numbers(pages, 30 * PAGE, 30 * PAGE + 1)).toEqual([30 * PAGE]); // nearer than others
  expect(numbers(pages, 0, 1)).toEqual([60 * PAGE]); // the top stays

  const [gone] = pages.within(10 * PAGE, 10 * PAGE + 1);
  if (!gone) throw new Error('there is a page');
  pages.fill(gone, rows(50 * PAGE + 5, 49 * PAGE - 5), true); // more rows than the page had
  expect(numbers(pages, 10 * PAGE, 10 * PAGE + 1)).toEqual([50 * PAGE]);
  expect(pages.length).toBe(60 * PAGE);
});

test('a page with a needed event is not let go', () => {
  const pages = new Pages();
  pages.reset(rows(60 * PAGE, 59 * PAGE + 1));
  for (let page = 59; page > 0; page -= 1) pages.append(rows(page * PAGE, (page - 1) * PAGE + 1));
  pages.letGo(15 * PAGE, 15 * PAGE + 40, new Set([`e${PAGE}`]));
  expect(numbers(pages, 59 * PAGE, 59 * PAGE + 1)).toEqual([PAGE]);
  expect(numbers(pages, 58 * PAGE, 58 * PAGE + 1)).toEqual([undefined]);
});

test('the repeats of an event are removed from all pages', () => {
  const pages = new Pages();
  const folds = { first: 'e2', folds: true };
  pages.reset([{ ...row(9), ...folds }]);
  pages.append([{ ...row(8), ...folds }, row(7), { ...row(6), first: 'e2', folds: false }]);
  pages.removeRepeats('e2');
  expect([numbers(pages), pages.length]).toEqual([[7, 6], 2]);
});

test('a list is as long as it will be before it was read', () => {
  const pages = new Pages();
  pages.reset(rows(100_000, 99_921));
  expect(pages.foresee(100_000)).toBe(1);
  expect(pages.length).toBe(100_000);
  const [at] = pages.within(50_000, 50_010);
  if (!at) throw new Error('there is a page');
  pages.fill(at, rows(at.before! - 1, at.last), true);
  expect(numbers(pages, 50_000, 50_002)).toEqual([50_000, 49_999]);
});

test('what is foreseen is as dense as what was read, and may turn out to be more or less', () => {
  const pages = new Pages();
  pages.reset(Array.from({ length: 80 }, (_, n) => row(10_000 - 2 * n))); // every second number
  pages.foresee(1_000);
  const [, first, second] = pages.list;
  if (!first || !second) throw new Error('there are pages');
  expect([first.before! - first.last, second.before]).toEqual([398, first.last]);
  pages.fill(first, rows(first.before! - 1, first.before! - 150), false); // more than could be read
  expect(pages.list[2]).toMatchObject({ before: first.last, last: second.before, rows: null });
  pages.endAbove(second); // nothing is that old
  expect(pages.list).toHaveLength(3);
});

test('a list too tall to be drawn is shorter until it is read, and ends where it ends', () => {
  const pages = new Pages();
  pages.reset(rows(100_000, 99_921));
  expect(pages.foresee(100_000, 50_000)).toBe(1);
  expect(pages.length).toBeLessThan(50_200);
  const [at] = pages.within(25_000, 25_010);
  if (!at) throw new Error('there is a page');
  const before = pages.length;
  pages.fill(at, rows(at.before! - 1, at.last), true);
  expect(pages.length).toBe(before + PAGE / 2);
});
