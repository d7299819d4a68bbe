import { expect, test } from 'vitest';

import type { Event } from '../api/shapes';
import { matches } from './filter';

const event = {
  source: 'github',
  type: 'issues.opened',
  verdict: 'valid',
  status: 'completed',
  received_at: '2026-11-20T09:00:00.000000Z',
} as Event;

test('each part has to fit', () => {
  expect(matches({}, event)).toBe(true);
  expect(matches({ source: 'github', verdict: 'valid', status: 'completed' }, event)).toBe(true);
  expect(matches({ source: 'stripe' }, event)).toBe(false);
  expect(matches({ since: '2026-11-20T09:00:00Z', until: '2026-11-20T09:00:01Z' }, event)).toBe(true);
  expect(matches({ until: '2026-11-20T09:00:00Z' }, event)).toBe(false);
});

test.each([
  ['issues.opened', true],
  ['issues', true],
  ['issue', false],
  ['*.opened', true],
  ['i*d', true],
  ['(issues', false],
])('the type %s fits as the API judges it: %s', (type, fits) => expect(matches({ type }, event)).toBe(fits));

test('an event without a type fits no type', () =>
  expect(matches({ type: '*' }, { ...event, type: null })).toBe(false));

test('views', () => {
  expect(matches({ view: 'needs_action' }, { ...event, status: 'failed' })).toBe(true);
  expect(matches({ view: 'needs_action' }, event)).toBe(false);
  expect(matches({ view: 'waiting' }, event)).toBe(false);
});

test('text may be in the body, so only the API can tell', () => {
  expect(matches({ q: 'ada' }, event)).toBeNull();
  expect(matches({ q: 'ada', source: 'stripe' }, event)).toBe(false);
});
