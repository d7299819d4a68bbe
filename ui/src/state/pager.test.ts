import { expect, test, vi } from 'vitest';

import { Pager } from './pager.svelte';

test('pages follow one another, and all of them are read again when the list has changed', async () => {
  const read = vi.fn(async (cursor: string | null, limit: number) => ({
    items: cursor === null ? [3, 2].slice(0, limit) : [1],
    next_cursor: cursor === null ? 'a' : null,
  }));
  const pager = new Pager(read);
  await pager.refresh();
  expect([pager.items, pager.more]).toEqual([[3, 2], true]);
  await pager.older();
  expect([pager.items, pager.more]).toEqual([[3, 2, 1], false]);
  await pager.older();
  expect(read).toHaveBeenCalledTimes(2);
});

test('an answer that was overtaken is not taken, and a failure keeps what there is', async () => {
  const answers: ((value: { items: number[]; next_cursor: null }) => void)[] = [];
  const pager = new Pager<number>(() => new Promise((resolve) => answers.push(resolve)));
  const [first, second] = [pager.refresh(), pager.refresh()];
  answers[1]?.({ items: [2], next_cursor: null });
  answers[0]?.({ items: [1], next_cursor: null });
  await Promise.all([first, second]);
  expect(pager.items).toEqual([2]);
  const failing = new Pager<number>(() => Promise.reject(new Error('no')));
  await failing.refresh();
  expect([failing.loaded, failing.problem?.detail]).toEqual([false, 'no']);
});
