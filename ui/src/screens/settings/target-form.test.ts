import { expect, test } from 'vitest';
import { changeOf, fieldsOf, FRESH, orderInWords, problemsOf } from './target-form';

const kept = {
  id: 1,
  source: 'stripe',
  url: 'http://localhost:3000/x',
  order: 'parallel:8',
  attempts: 5,
  timeout_ms: 30_000,
  retry_base_ms: 1000,
  retry_cap_ms: 60_000,
  preserve_host: false,
  hookmitt_headers: true,
  paused: false,
  state: { is: 'untried' as const },
  kind: 'kept' as const,
};

test('a target goes through the form unchanged', () => {
  expect(changeOf(fieldsOf(kept))).toEqual({
    url: 'http://localhost:3000/x',
    order: 'parallel:8',
    timeout_ms: 30_000,
    attempts: 5,
    preserve_host: false,
    hookmitt_headers: true,
  });
});

test('a short form is spelled out', () => {
  expect(changeOf({ ...FRESH, url: '3000' }).url).toBe('http://localhost:3000');
});

test('what is wrong is said under its field', () => {
  expect(problemsOf({ ...FRESH, url: '3000' })).toEqual({});
  const wrong = problemsOf({
    ...FRESH,
    url: 'x',
    attempts: '0',
    timeout_s: '700',
    order: 'parallel',
    width: '300',
  });
  expect(Object.keys(wrong).sort()).toEqual(['attempts', 'timeout_s', 'url', 'width']);
});

test('an order is said in words', () => {
  expect(orderInWords('parallel:8')).toBe('Parallel, 8 at a time');
  expect(orderInWords('fifo')).toBe('Strict (fifo)');
});
