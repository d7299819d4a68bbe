import { expect, test } from 'vitest';

import type { Target } from '../api/shapes';
import { targetWords } from './target';

const now = new Date('2026-11-20T14:15:00').getTime();
const at = (time: string) => new Date(`2026-11-20T${time}`).toISOString();
const words = (state: Target['state'], paused = false) => targetWords({ paused, state }, now);

test('a target is up only if it answered just now, and what is older says how old it is', () => {
  expect(words({ is: 'untried' })).toMatchObject({ tone: 'none', word: 'not tried yet', says: null });
  expect(words({ is: 'answered', at: at('14:14:30') })).toMatchObject({
    tone: 'ok',
    word: 'up',
    label: 'Up',
  });
  expect(words({ is: 'answered', at: at('14:02:00') })).toMatchObject({
    tone: 'none',
    word: 'answered 13 min ago',
    label: 'Answered 13 min ago',
  });
});

test('a target that is silent says since when and why, also if it is paused', () => {
  const silent = { is: 'silent', since: at('14:02:00'), why: 'connection_refused', error: '…' } as const;
  const says = 'Nobody answers since 14:02: connection refused.';
  expect(words(silent)).toMatchObject({ tone: 'warn', word: 'nobody answers', says });
  expect(words(silent, true)).toMatchObject({ tone: 'warn', word: 'paused', label: 'Paused', says });
});
