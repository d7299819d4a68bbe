import { expect, test } from 'vitest';

import type { Gap } from '../../api/shapes';
import { moment } from '../../search/moment';
import { eventsOf } from './gap-events';

test('the events of a gap are asked for by its whole seconds, which the search understands', () => {
  const gap = { from: '2026-11-20T02:10:05.300Z', until: '2026-11-20T08:44:01.200Z' } as Gap;
  const [after, before] = eventsOf(gap);
  expect(moment(after!.value)).toBe('2026-11-20T02:10:05.000Z');
  expect(moment(before!.value)).toBe('2026-11-20T08:44:02.000Z');
  expect([after?.name, before?.name]).toEqual(['after', 'before']);
});

test('a gap that goes on has no end', () => {
  expect(eventsOf({ from: '2026-11-20T02:10:05Z', until: null } as Gap)).toHaveLength(1);
});
