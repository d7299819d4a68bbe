import { expect, test } from 'vitest';
import { stateOf } from './target-state';

test('a target is up until it was seen to be down', () => {
  expect(stateOf({ paused: false, down_since: null, down_error: null })).toMatchObject({
    tone: 'ok',
    word: 'Up',
    says: null,
  });
  expect(stateOf({ paused: true, down_since: '2026-11-20T08:58:00Z', down_error: null }).word).toBe('Paused');
  const down = stateOf({
    paused: false,
    down_since: '2026-11-20T08:58:00Z',
    down_error: 'error sending request: Connection refused (os error 111)',
  });
  expect(down.word).toBe('Waiting');
  expect(down.says).toMatch(/^Paused at \d\d:58: connection refused\./);
});
