import { expect, test, vi } from 'vitest';

import type { EventPage } from '../api/events';
import { event, events, listEvents, listsThree, numbers, onEvent, page, settle } from './listed';

listsThree();

test('what comes in appears at the top while that is in sight', async () => {
  events.apply(event(4));
  await settle();
  expect(numbers()).toEqual([4, 3, 2, 1]);
  expect([events.newCount, events.inserted]).toEqual([0, 1]);
});

test('what comes in while scrolled is held back, in order, until it is asked for', async () => {
  events.scrolled(false);
  events.apply(event(5));
  events.apply(event(4));
  await settle();
  expect([numbers(), events.newCount]).toEqual([[3, 2, 1], 2]);
  events.newest();
  expect([numbers(), events.newCount, events.wanted]).toEqual([[5, 4, 3, 2, 1], 0, { to: 'top' }]);
});

test('paused holds back too; going live shows', async () => {
  events.toggleLive();
  events.apply(event(4));
  await settle();
  expect(events.newCount).toBe(1);
  events.toggleLive();
  expect(numbers()).toEqual([4, 3, 2, 1]);
});

test('many changes of one event are one', async () => {
  const seen = vi.fn();
  const end = onEvent('e2', seen);
  for (let n = 0; n < 50; n += 1) events.apply(event(2, { title: `state ${n}` }));
  await settle();
  expect(events.row('e2')?.subject).toBe('state 49');
  expect(numbers()).toEqual([3, 2, 1]);
  expect(seen).toHaveBeenCalledTimes(1);
  end();
});

test('a new copy is told to those who look at its first', async () => {
  const seen = vi.fn();
  const end = onEvent('e1', seen);
  events.apply(event(9, { duplicate_of: 'e1' }));
  await settle();
  expect(seen).toHaveBeenCalledOnce();
  end();
});

test('deleted events go, restored ones come back to their place', async () => {
  events.apply(event(2, { deleted_at: '2026-11-20T09:01:00Z' }));
  await settle();
  expect(numbers()).toEqual([3, 1]);
  events.apply(event(2));
  await settle();
  expect(numbers()).toEqual([3, 2, 1]);
});

test('what does not match any more goes, and those who look at it are told', async () => {
  const seen = vi.fn();
  const end = onEvent('e2', seen);
  events.show({ q: 'verdict:pending' });
  await settle();
  events.unmatched('e2');
  events.unmatched('e77'); // it was never listed
  await settle();
  expect(numbers()).toEqual([3, 1]);
  expect(seen).toHaveBeenCalledOnce();
  end();
});

test('what is held back and does not match any more is not counted', async () => {
  events.scrolled(false);
  events.apply(event(4));
  await settle();
  events.unmatched('e4');
  await settle();
  expect([events.newCount, numbers()]).toEqual([0, [3, 2, 1]]);
});

test('what came for another search does not come into this one', async () => {
  events.apply(event(4));
  events.show({ q: 'ada' });
  await settle();
  expect(numbers()).toEqual([3, 2, 1]);
});

test('only a search lists what is in the bin', async () => {
  events.show({ q: 'is:deleted' });
  await settle();
  events.apply(event(4, { deleted_at: '2026-11-20T09:01:00Z' }));
  await settle();
  expect(numbers()).toEqual([4, 3, 2, 1]);
});

test('what comes in while the list is read is not lost', async () => {
  let answer = (_page: EventPage) => {};
  listEvents.mockReturnValue(new Promise((resolve) => (answer = resolve)));
  events.show({});
  events.apply(event(4));
  await settle();
  answer(page(event(3)));
  await settle();
  expect(numbers()).toEqual([4, 3]);
});

test('after a loss the list catches up', async () => {
  listEvents.mockResolvedValue(page(event(5), event(4), event(3, { title: 'changed' })));
  await events.catchUp();
  expect([numbers(), events.row('e3')?.subject]).toEqual([[5, 4, 3, 2, 1], 'changed']);
});

test('an answer that comes too late is not shown', async () => {
  let late = (_page: EventPage) => {};
  listEvents.mockReturnValueOnce(new Promise((resolve) => (late = resolve)));
  events.show({ source: 'slow' });
  events.show({ source: 'quick' });
  await settle();
  late(page(event(99)));
  await settle();
  expect(numbers()).toEqual([3, 2, 1]);
});

test('what comes in by itself while what was missed is read is there once', async () => {
  let answer = (_page: EventPage) => {};
  listEvents.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  const read = events.catchUp();
  events.apply(event(5));
  await settle();
  answer(page(event(5), event(4), event(3), event(2), event(1)));
  await read;
  expect(numbers()).toEqual([5, 4, 3, 2, 1]);
});

test('a list that was read ahead is not read a second time, and catches up with what it missed', async () => {
  listEvents.mockClear();
  events.ahead({ fold: true });
  events.refresh(); // the live stream was opened meanwhile
  events.show({ fold: true });
  await settle();
  expect([numbers(), listEvents.mock.calls.length]).toEqual([[3, 2, 1], 1]);
  listEvents.mockResolvedValue(page(event(4), event(3), event(2), event(1)));
  await vi.advanceTimersByTimeAsync(400);
  expect(numbers()).toEqual([4, 3, 2, 1]);
  listEvents.mockClear();
  events.show({ fold: true });
  await settle();
  expect(listEvents.mock.calls.length).toBe(1);
});
