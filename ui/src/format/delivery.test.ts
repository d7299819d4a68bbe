import { expect, test } from 'vitest';

import type { GlanceDelivery } from '../api/shapes';
import { deliveryState } from './delivery';

const delivery: GlanceDelivery = {
  id: 'e.1',
  target_id: 1,
  target: 'http://localhost:3000/hooks',
  status: 'completed',
  waiting: false,
  ambiguous: false,
  response_status: 200,
  duration_ms: 42,
  error: null,
  next_attempt_at: null,
  count: 1,
};
const unanswered = { response_status: null, duration_ms: null };

test.each<[string, Partial<GlanceDelivery>, object]>([
  ['completed', {}, { icon: 'done', status: 200, took: 42, word: null, tone: 'quiet' }],
  ['pending', { status: 'pending', ...unanswered }, { icon: 'pending', word: 'Pending' }],
  ['sending', { status: 'processing' }, { icon: 'sending', word: 'Sending' }],
  ['waiting', { status: 'pending', waiting: true }, { icon: 'waiting', word: 'Waiting', tone: 'waits' }],
  ['no answer', { status: 'failed', ambiguous: true, ...unanswered }, { icon: 'unclear', word: 'No answer' }],
  ['failed', { status: 'failed', response_status: 422 }, { icon: 'failed', status: 422, tone: 'failed' }],
  ['failed without an answer', { status: 'failed', ...unanswered }, { icon: 'failed', word: 'Failed' }],
  ['dead', { status: 'dead_letter', response_status: 500 }, { icon: 'dead', word: 'Dead letter' }],
  [
    'kept',
    { status: 'skipped', ...unanswered, error: 'kept by backup sync' },
    { icon: 'skipped', word: 'Kept', tone: 'quiet' },
  ],
  ['skipped', { status: 'skipped', ...unanswered }, { icon: 'skipped', word: 'Skipped', tone: 'quiet' }],
])('a delivery that is %s', (_name, change, expected) => {
  expect(deliveryState({ ...delivery, ...change })).toMatchObject(expected);
});

test('a retry counts down to its moment', () => {
  const at = '2026-11-20T09:00:00Z';
  const shown = deliveryState({ ...delivery, status: 'pending', response_status: 500, next_attempt_at: at });
  expect(shown).toMatchObject({ icon: 'retry', until: Date.parse(at) });
});

test('an event without a target, and one with several', () => {
  expect(deliveryState(null)).toMatchObject({ icon: null, said: 'Captured; it has no target' });
  expect(deliveryState({ ...delivery, count: 3 }).said).toBe(
    'localhost:3000: completed, answered 200, in 42 ms; 2 more deliveries',
  );
});
