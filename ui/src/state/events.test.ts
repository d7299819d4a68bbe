import { beforeEach, expect, test, vi } from 'vitest';

import type { EventPage } from '../api/events';
import type { Event } from '../api/shapes';

const listEvents = vi.fn<(filter: object, piece: { before?: number | null }) => Promise<EventPage>>();
vi.mock('../api/events', () => ({ listEvents }));
const { events, onEvent } = await import('./events.svelte');

const event = (seq: number, change: Partial<Event> = {}) =>
  ({
    id: `e${seq}`,
    seq,
    source: 'demo',
    type: 'push',
    title: null,
    headers: [],
    causes: [],
    duplicate_of: null,
    deleted_at: null,
    parent: null,
    handshake: null,
    verdict: 'valid',
    status: 'captured',
    received_at: '2026-11-20T09:00:00.000000Z',
    ...change,
  }) as Event;

const numbers = () => events.slice(0, events.length).map((row) => row?.seq);
const settle = () => vi.advanceTimersByTimeAsync(100);

/** Lists three events. */
beforeEach(async () => {
  vi.useFakeTimers();
  listEvents.mockReset().mockResolvedValue({ items: [event(3), event(2), event(1)], next_cursor: null });
  events.live = true;
  events.scrolled(true);
  events.show({});
  await settle();
});

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

test('what the filter leaves out does not come in; only the API knows about text', async () => {
  events.show({ source: 'other' });
  await settle();
  events.apply(event(4));
  await settle();
  expect(numbers()).toEqual([3, 2, 1]);

  events.show({ q: 'ada' });
  await settle();
  listEvents.mockResolvedValue({ items: [event(5), event(3), event(2), event(1)], next_cursor: null });
  events.apply(event(4));
  events.apply(event(5));
  await vi.advanceTimersByTimeAsync(1_200);
  expect(numbers()).toEqual([5, 3, 2, 1]);
});

test('what comes in while the list is read is not lost', async () => {
  let answer = (_page: EventPage) => {};
  listEvents.mockReturnValue(new Promise((resolve) => (answer = resolve)));
  events.show({});
  events.apply(event(4));
  await settle();
  answer({ items: [event(3)], next_cursor: null });
  await settle();
  expect(numbers()).toEqual([4, 3]);
});

test('after a loss the list catches up', async () => {
  listEvents.mockResolvedValue({
    items: [event(5), event(4), event(3, { title: 'changed' })],
    next_cursor: null,
  });
  await events.catchUp();
  expect([numbers(), events.row('e3')?.subject]).toEqual([[5, 4, 3, 2, 1], 'changed']);
});

test('an answer that comes too late is not shown', async () => {
  let late = (_page: EventPage) => {};
  listEvents.mockReturnValueOnce(new Promise((resolve) => (late = resolve)));
  events.show({ source: 'slow' });
  events.show({ source: 'quick' });
  await settle();
  late({ items: [event(99)], next_cursor: null });
  await settle();
  expect(numbers()).toEqual([3, 2, 1]);
});

test('what comes in by itself while what was missed is read is there once', async () => {
  let answer = (_page: EventPage) => {};
  listEvents.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  const read = events.catchUp();
  events.apply(event(5));
  await settle();
  answer({ items: [event(5), event(4), event(3), event(2), event(1)], next_cursor: null });
  await read;
  expect(numbers()).toEqual([5, 4, 3, 2, 1]);
});
