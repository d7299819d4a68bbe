import { expect, test, vi } from 'vitest';

import type { CopyList } from '../api/events';
import type { Event } from '../api/shapes';
import { copiesOf, event, events, listEvents, listsThree, numbers, page, settle } from './listed';

listsThree();

const repeat = (seq: number, first: number, change: Partial<Event> = {}) =>
  event(seq, { duplicate_of: `e${first}`, glance: { ...glance(0), folds: true }, ...change });
const glance = (folded: number) => ({
  copies: folded + 1,
  copies_differ: false,
  folded,
  folds: false,
  delivery: null,
});

/** Lists three events, the second of which came three times; its repeats are folded away. */
async function folded() {
  const first = event(2, { glance: glance(2) });
  listEvents.mockReset().mockResolvedValue(page(event(3), first, event(1)));
  copiesOf.mockReset().mockResolvedValue({ items: [first, repeat(4, 2), repeat(5, 2)], total: 3 });
  events.show({ fold: true });
  await settle();
}

test('repeats come out beneath their first, and are folded away again', async () => {
  await folded();
  await events.unfold('e2');
  expect([numbers(), events.found, events.isOpen('e2')]).toEqual([[3, 2, 4, 5, 1], 3, true]);
  expect([events.indexOf('e5'), events.row('e4')?.seq]).toEqual([3, 4]);
  events.fold('e2');
  expect([numbers(), events.isOpen('e2')]).toEqual([[3, 2, 1], false]);
  await events.unfold('e1'); // it came once
  expect([numbers(), copiesOf.mock.calls.length]).toEqual([[3, 2, 1], 1]);
});

test('a repeat that comes in stays folded away, and nobody is told of a new event', async () => {
  await folded();
  events.scrolled(false);
  events.apply(repeat(6, 2));
  events.apply(event(2, { glance: glance(3) }));
  await settle();
  expect([numbers(), events.newCount, events.row('e2')?.copies]).toEqual([[3, 2, 1], 0, 4]);
});

test('a repeat of an unfolded event comes in beneath it, and waits while the list is scrolled', async () => {
  await folded();
  await events.unfold('e2');
  events.apply(repeat(6, 2));
  await settle();
  expect([numbers(), events.inserted]).toEqual([[3, 2, 4, 5, 6, 1], 0]);
  events.scrolled(false);
  events.apply(repeat(7, 2));
  events.apply(event(8));
  await settle();
  expect([numbers(), events.newCount]).toEqual([[3, 2, 4, 5, 6, 1], 2]);
  events.newest();
  expect([numbers(), events.newCount]).toEqual([[8, 3, 2, 4, 5, 6, 7, 1], 0]);
});

test('folding away what waits makes it wait no longer', async () => {
  await folded();
  await events.unfold('e2');
  events.scrolled(false);
  events.apply(repeat(7, 2));
  await settle();
  events.fold('e2');
  expect(events.newCount).toBe(0);
});

test('a repeat that comes in while its first is unfolded is there', async () => {
  await folded();
  let answer = (_list: CopyList) => {};
  copiesOf.mockReturnValue(new Promise((resolve) => (answer = resolve)));
  const read = events.unfold('e2');
  events.apply(repeat(6, 2));
  await settle();
  answer({ items: [event(2), repeat(4, 2)], total: 2 });
  await read;
  expect(numbers()).toEqual([3, 2, 4, 6, 1]);
});

test('whether a repeat of an event that is not loaded is listed only the API knows', async () => {
  await folded();
  events.apply(repeat(6, 77));
  await vi.advanceTimersByTimeAsync(1_200);
  expect(numbers()).toEqual([3, 2, 1]);
  listEvents.mockResolvedValue(page(repeat(7, 78), event(3), event(2), event(1)));
  events.apply(repeat(7, 78)); // its first was deleted
  await vi.advanceTimersByTimeAsync(1_200);
  expect(numbers()).toEqual([7, 3, 2, 1]);
});

test('the repeats of a deleted first stand for themselves, and fold away again when it is restored', async () => {
  await folded();
  await events.unfold('e2');
  const left = [repeat(5, 2), repeat(4, 2), event(3), event(1)];
  listEvents.mockResolvedValue(page(...left));
  events.apply(event(2, { deleted_at: '2026-11-20T09:01:00Z', glance: glance(2) }));
  await vi.advanceTimersByTimeAsync(400);
  expect(numbers()).toEqual([5, 4, 3, 1]);
  events.apply(event(2, { glance: glance(2) }));
  await settle();
  expect(numbers()).toEqual([3, 2, 1]);
});

test('what only the API can place comes to its place, though something newer came meanwhile', async () => {
  await folded();
  const items = [event(7), repeat(6, 77), event(3), event(2, { glance: glance(2) }), event(1)];
  listEvents.mockResolvedValue(page(...items));
  events.apply(repeat(6, 77)); // its first was deleted
  events.apply(event(7));
  await vi.advanceTimersByTimeAsync(1_200);
  expect(numbers()).toEqual([7, 6, 3, 2, 1]);
});

test('a repeat that comes to stand for itself, or the reverse, changes its place', async () => {
  await folded();
  await events.unfold('e2');
  events.apply(event(4, { glance: glance(0) })); // a new secret has shown that it is an event of its own
  await settle();
  events.fold('e2');
  expect(numbers()).toEqual([4, 3, 2, 1]);
  events.apply(repeat(4, 2));
  await settle();
  expect(numbers()).toEqual([3, 2, 1]);
});

test('a deleted repeat goes, and a restored one comes back to its place', async () => {
  await folded();
  await events.unfold('e2');
  events.scrolled(false);
  events.remove('e5');
  events.apply(repeat(5, 2, { deleted_at: '2026-11-20T09:01:00Z' }));
  await settle();
  expect(numbers()).toEqual([3, 2, 4, 1]);
  events.apply(repeat(5, 2));
  await settle();
  expect([numbers(), events.newCount]).toEqual([[3, 2, 4, 5, 1], 0]);
});

test('a repeat that is shown elsewhere is uncovered', async () => {
  await folded();
  await events.uncover('e5', 'e2');
  expect([numbers(), events.wanted]).toEqual([[3, 2, 4, 5, 1], { to: 'row', id: 'e5' }]);
});

test('a repeat that doesn’t fold is a row like any other, and does not come out a second time', async () => {
  await folded();
  events.apply(repeat(6, 2, { glance: glance(0) }));
  await settle();
  expect(numbers()).toEqual([6, 3, 2, 1]);
  const items = [event(2), repeat(4, 2), repeat(5, 2, { glance: glance(0) }), repeat(6, 2)];
  copiesOf.mockResolvedValue({ items, total: 4 });
  await events.unfold('e2');
  expect(numbers()).toEqual([6, 3, 2, 4, 1]);
});

test('unless repeats are folded, they are rows like any other', async () => {
  events.apply(repeat(4, 2));
  await settle();
  expect(numbers()).toEqual([4, 3, 2, 1]);
  await events.unfold('e2');
  expect(numbers()).toEqual([4, 3, 2, 1]);
});
