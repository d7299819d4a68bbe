import { expect, test } from 'vitest';

import type { Gap, Tunnel } from '../../api/shapes';
import { gap, iso, now, tunnel } from '../../state/examples';
import { canMiss, gapRows, gapSum, noGaps, servedBy, shownGaps, tookWords } from './gaps';

const rows = (gaps: Gap[], change: Partial<Tunnel> = {}) => {
  const one = tunnel(change);
  return gapRows(shownGaps(gaps, one), one, now);
};
const open = gap({ until: null });

test('a gap in the table', () => {
  expect(rows([gap()])).toMatchObject([
    {
      when: 'Today 02:10–08:44',
      length: '6 h 34 min',
      why: 'Computer asleep',
      caught: '37',
      lost: '0',
      took: '0.2 s',
    },
  ]);
  expect([null, 3, 65_000].map(tookWords)).toEqual(['–', '0.1 s', '1 min 5 s']);
});

test('while a gap goes on nobody knows what comes of it, and it tells why it does', () => {
  const change = { state: 'offline', since: open.from, gap: open } as const;
  expect(
    rows([open], { ...change, why: 'connection_refused', hindrance: 'connection_refused' }),
  ).toMatchObject([
    {
      when: 'Today 02:10 until now',
      length: '6 h 50 min',
      why: 'Connection refused',
      caught: '–',
      lost: '–',
    },
  ]);
  expect(rows([open], { ...change, why: 'asleep', hindrance: null })[0]?.why).toBe('Computer asleep');
  const now = rows([open], { ...change, why: 'asleep', hindrance: 'network' })[0];
  expect(now?.why).toBe('Computer asleep, now network cut');
  const refused = rows([open], { ...change, state: 'refused', why: 'denied', hindrance: 'denied' })[0];
  expect(refused?.why).toBe('Relay refused');
});

test('while it is being caught up a gap has ended already, and nothing is called lost or not', () => {
  const since = iso('2026-11-20T08:44:00');
  expect(rows([open, gap()], { since })).toMatchObject([
    { when: 'Today 02:10–08:44', caught: '37 so far', lost: '–' },
    { caught: '37', lost: '0' },
  ]);
});

test('a tunnel that is offline has a gap, whether it is stored yet or not', () => {
  const since = iso('2026-11-20T08:44:00');
  const present = (change: Partial<Tunnel>) => shownGaps([gap()], tunnel({ since, ...change }));
  const [first, ...rest] = present({ state: 'offline', why: 'no_answer' });
  expect(first).toMatchObject({ from: since, until: null, why: 'no_answer', lost: null });
  expect(rest).toMatchObject([gap()]);
  expect(present({ state: 'off' })[0]?.why).toBe('off');
  expect(present({})).toHaveLength(1);
  expect(rows([], { state: 'connecting', since, gap: null })[0]?.why).toBe('Not connected yet');
});

test('where there are no gaps, it is said what would be noted', () => {
  expect(noGaps(tunnel(), false)).toBe(
    'None so far. Offline times are listed here, with what was caught up.',
  );
  expect(noGaps(tunnel({ kind: 'ngrok' }), true)).toMatch(/^None in 7 days\..*is unknown/);
});

test('what gaps come to', () => {
  const sum = (gaps: Gap[], change: Partial<Tunnel> = {}) =>
    gapSum(shownGaps(gaps, tunnel(change)), tunnel(change));
  expect(sum([gap(), gap({ caught_up: 3 })])).toBe('2 in 7 days, 40 events caught up');
  expect(sum([gap({ lost: 2 })])).toBe('1 in 7 days, 37 events caught up, 2 not recoverable');
  expect(sum([open])).toBe('1 in 7 days, 37 events caught up so far');
  expect(sum([gap({ lost: null })], { kind: 'smee' })).toBe('1 in 7 days');
});

test('a program keeps its name as it is written', () => {
  const program = { kind: 'cloudflared', state: 'offline', since: open.from, why: 'not_running' } as const;
  expect(rows([], program)[0]?.why).toBe('cloudflared isn’t running');
});

test('a gap in which events may be missing, until a sync has looked', () => {
  const missing = (change: Partial<Gap>) => shownGaps([gap(change)], tunnel()).map(canMiss)[0];
  expect([missing({}), missing({ lost: 2 }), missing({ lost: null })]).toEqual([false, true, true]);
  expect([missing({ lost: 2, synced: 2 }), missing({ lost: null, until: null })]).toEqual([false, false]);
  expect(rows([gap({ lost: 2, synced: 2, unrecoverable: 0 })])[0]).toMatchObject({
    caught: '37 + 2 by sync',
  });
  expect(rows([gap({ lost: null, synced: 3, unrecoverable: 1 })], { kind: 'smee' })[0]).toMatchObject({
    caught: '3 by sync',
    lost: '1',
  });
});

test('the sources that come through a tunnel', () => {
  const all = [{ source: 'shop' }, { source: 'pay' }];
  expect(servedBy({ source: null, sources: [] }, all)).toEqual(all);
  expect(servedBy({ source: null, sources: ['pay'] }, all)).toEqual([{ source: 'pay' }]);
  expect(servedBy({ source: 'shop', sources: [] }, all)).toEqual([{ source: 'shop' }]);
});
