import { beforeEach, expect, test, vi } from 'vitest';

import type { CopyList, EventPage } from '../api/events';
import type { Event } from '../api/shapes';

const listEvents =
  vi.fn<(filter: object, piece: { cursor?: string | number | null }) => Promise<EventPage>>();
const copiesOf = vi.fn<(id: string) => Promise<CopyList>>();
vi.mock('../api/events', () => ({ listEvents, copiesOf }));
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
  listEvents
    .mockReset()
    .mockResolvedValue({ items: [event(3), event(2), event(1)], next_cursor: null, searched_to: null });
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

/** A page of a search that takes long: it was searched down to `to`. */
const part = (seqs: number[], to: number, end = false) => ({
  items: seqs.map((seq) => event(seq)),
  next_cursor: end ? null : `c${to}`,
  searched_to: end ? null : to,
});

test('a search that takes long shows what it finds as it comes, and how far it is', async () => {
  const steps: (() => void)[] = [];
  const pages = [part([], 900), part([850], 800), part([3], 0, true)];
  listEvents
    .mockReset()
    .mockImplementation((filter) =>
      'q' in filter
        ? new Promise((resolve) => steps.push(() => resolve(pages.shift()!)))
        : Promise.resolve({ items: [event(1_000)], next_cursor: null, searched_to: null }),
    );
  events.show({ q: 'body./a:1' });
  const went: unknown[] = [];
  for (let n = 0; n < 3; n += 1) {
    steps.shift()?.();
    await settle();
    went.push([numbers(), events.tail.progress?.to, events.complete]);
  }
  expect(went).toEqual([
    [[], 900, false],
    [[850], 800, false],
    [[850, 3], undefined, true],
  ]);
  const cursors = listEvents.mock.calls.filter(([filter]) => 'q' in filter).map(([, piece]) => piece.cursor);
  expect(cursors).toEqual([null, 'c900', 'c800']);
});

test('a search that was stopped keeps what it found, and goes on from there when asked to', async () => {
  let left = 2;
  listEvents.mockReset().mockImplementation((filter) => {
    if (!('q' in filter)) return Promise.resolve(part([1_000], 0, true));
    left -= 1;
    if (left > 0) return Promise.resolve(part([850], 800));
    return left === 0 ? new Promise(() => {}) : Promise.resolve(part([3], 0, true));
  });
  events.show({ q: 'body./a:1' });
  await settle();
  events.stop();
  expect([numbers(), events.tail.stopped, events.tail.progress]).toEqual([
    [850],
    true,
    { to: 800, newest: 1_000 },
  ]);
  events.older();
  expect(events.tail.reading).toBe(false);
  await events.readOn();
  expect([numbers(), events.complete, events.tail.stopped]).toEqual([[850, 3], true, false]);
});

test('a search that is stopped before anything came is an empty list', async () => {
  listEvents.mockReset().mockReturnValue(new Promise(() => {}));
  events.show({ q: 'body./a:1' });
  events.stop();
  await settle();
  expect([events.state, numbers(), events.tail.stopped]).toEqual(['ready', [], true]);
});

test('what comes in while the list is read is not lost', async () => {
  let answer = (_page: EventPage) => {};
  listEvents.mockReturnValue(new Promise((resolve) => (answer = resolve)));
  events.show({});
  events.apply(event(4));
  await settle();
  answer({ items: [event(3)], next_cursor: null, searched_to: null });
  await settle();
  expect(numbers()).toEqual([4, 3]);
});

test('after a loss the list catches up', async () => {
  listEvents.mockResolvedValue({
    items: [event(5), event(4), event(3, { title: 'changed' })],
    next_cursor: null,
    searched_to: null,
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
  late({ items: [event(99)], next_cursor: null, searched_to: null });
  await settle();
  expect(numbers()).toEqual([3, 2, 1]);
});

test('what comes in by itself while what was missed is read is there once', async () => {
  let answer = (_page: EventPage) => {};
  listEvents.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  const read = events.catchUp();
  events.apply(event(5));
  await settle();
  answer({ items: [event(5), event(4), event(3), event(2), event(1)], next_cursor: null, searched_to: null });
  await read;
  expect(numbers()).toEqual([5, 4, 3, 2, 1]);
});

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
  const page = { items: [event(3), first, event(1)], next_cursor: null, searched_to: null };
  listEvents.mockReset().mockResolvedValue(page);
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
  listEvents.mockResolvedValue({
    items: [repeat(7, 78), event(3), event(2), event(1)],
    next_cursor: null,
    searched_to: null,
  });
  events.apply(repeat(7, 78)); // its first was deleted
  await vi.advanceTimersByTimeAsync(1_200);
  expect(numbers()).toEqual([7, 3, 2, 1]);
});

test('the repeats of a deleted first stand for themselves, and fold away again when it is restored', async () => {
  await folded();
  await events.unfold('e2');
  const left = [repeat(5, 2), repeat(4, 2), event(3), event(1)];
  listEvents.mockResolvedValue({ items: left, next_cursor: null, searched_to: null });
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
  listEvents.mockResolvedValue({ items, next_cursor: null, searched_to: null });
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
