import { expect, test } from 'vitest';

import type { Gap } from '../api/shapes';
import { backAt, backLine, gapSentence, isNews, span } from './gap';

const at = (text: string) => new Date(text).getTime();
const now = at('2026-11-20T09:00:00');
const gap = (change: Partial<Gap>): Gap => ({
  id: 1,
  tunnel_id: 1,
  label: 'acme-dev',
  from: new Date('2026-11-20T02:10:00').toISOString(),
  until: new Date('2026-11-20T08:44:00').toISOString(),
  why: 'asleep',
  caught_up: 37,
  lost: 0,
  synced: null,
  unrecoverable: null,
  took_ms: 200,
  first_seq: 1,
  last_seq: 37,
  ...change,
});

test.each([
  ['2026-11-20T02:10', '2026-11-20T08:44', '02:10–08:44'],
  ['2026-11-18T01:54', '2026-11-18T08:03', 'Wed 01:54–08:03'],
  ['2026-11-19T23:10', '2026-11-20T07:30', 'Thu 23:10 – 07:30'],
  ['2026-11-17T23:10', '2026-11-18T07:30', 'Tue 23:10 – Wed 07:30'],
  ['2026-11-14T01:30', '2026-11-14T08:12', 'Sat 01:30–08:12'],
  ['2026-11-13T22:00', '2026-11-13T23:00', '13 Nov 22:00–23:00'],
  ['2026-11-01T01:00', '2026-11-01T02:00', '1 Nov 01:00–02:00'],
])('from %s until %s is %s', (from, until, words) => expect(span(at(from), at(until), now)).toBe(words));

test('today can be named', () => {
  expect(span(at('2026-11-19T23:10'), at('2026-11-20T07:30'), now, 'today')).toBe('Thu 23:10 – today 07:30');
});

test('a gap is told in the same words everywhere', () => {
  expect(gapSentence(gap({}), now)).toBe('Offline 02:10–08:44: 37 caught up, 0 lost');
  expect(gapSentence(gap({}), now, 'relay')).toBe(
    'Offline 02:10–08:44 while the computer slept: 37 events caught up, 0 lost',
  );
  expect(gapSentence(gap({ caught_up: 1, lost: 2, why: 'connection_refused' }), now, 'relay')).toBe(
    'Offline 02:10–08:44, connection refused: 1 event caught up, 2 lost',
  );
  expect(gapSentence(gap({ until: null }), now)).toBe('Offline since 02:10');
});

test('nothing is called lost or not while it is still being caught up', () => {
  expect(gapSentence({ ...gap({}), open: true }, now)).toBe('Offline 02:10–08:44: 37 caught up so far');
});

test('coming back says the day where it was not today', () => {
  expect(backAt(at('2026-11-20T08:44'), now)).toBe('Back at 08:44.');
  expect(backAt(at('2026-11-18T08:03'), now)).toBe('Back at 08:03 on Wed.');
  expect(backLine(gap({}), now)).toBe('Back at 08:44, 37 caught up');
  expect(backLine(gap({ lost: 2 }), now)).toBe('Back at 08:44, 37 caught up, 2 lost');
  expect(backLine(gap({ lost: null }), now)).toBe('Back at 08:44, nothing was stored');
});

test('where nothing is kept, nobody says that nothing is lost', () => {
  const unknown = gap({ caught_up: 0, lost: null });
  expect(gapSentence(unknown, now)).toMatch(/: what was sent is lost, and how much is unknown$/);
  expect(isNews(unknown)).toBe(true);
  expect(isNews({ ...unknown, why: 'off' })).toBe(false);
  expect(isNews(gap({ caught_up: 0, lost: 0 }))).toBe(false);
});

test('what backup sync recovered of a gap', () => {
  const lossy = gap({ lost: 2, synced: 2, unrecoverable: 0 });
  expect(gapSentence(lossy, now)).toBe('Offline 02:10–08:44: 37 caught up, 2 lost, 2 recovered by sync');
  const unknown = gap({ lost: null, synced: 3, unrecoverable: 1 });
  expect(gapSentence(unknown, now)).toBe('Offline 02:10–08:44: 3 recovered by sync, 1 not recoverable');
  expect(backLine(unknown, now)).toBe('Back at 08:44, 3 recovered by sync, 1 not recoverable');
});
