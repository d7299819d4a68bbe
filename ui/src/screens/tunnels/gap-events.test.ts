import { expect, test } from 'vitest';

import type { Gap } from '../../api/shapes';
import { eventsOf } from './gap-events';

const moments = (search: string) =>
  [...search.matchAll(/(after|before):(\S+)/g)].map(([, key, at]) => [key, new Date(at!).toISOString()]);

test('the events of a gap are asked for by its whole seconds, in local time', () => {
  const gap = { from: '2026-11-20T02:10:05.300Z', until: '2026-11-20T08:44:01.200Z' } as Gap;
  expect(moments(eventsOf(gap))).toEqual([
    ['after', '2026-11-20T02:10:05.000Z'],
    ['before', '2026-11-20T08:44:02.000Z'],
  ]);
});

test('a gap that goes on has no end', () =>
  expect(moments(eventsOf({ from: '2026-11-20T02:10:05Z', until: null } as Gap))).toHaveLength(1));
