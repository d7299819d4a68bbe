import { expect, test } from 'vitest';

import { event, events, listEvents, listsThree, numbers, page, settle } from './listed';

listsThree();

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
        : Promise.resolve(page(event(1_000))),
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
