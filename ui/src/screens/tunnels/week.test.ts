import { expect, test } from 'vitest';

import type { Gap } from '../../api/shapes';
import type { ShownGap } from './gaps';
import { knownSince, week, weekStart } from './week';

const at = (text: string) => new Date(text).getTime();
const now = at('2026-11-20T12:00:00');
const long = at('2026-01-01T00:00:00');

const gap = (from: string, until: string | null, change: Partial<Gap> = {}): ShownGap => ({
  id: 1,
  tunnel_id: 1,
  label: 'acme-dev',
  from: new Date(from).toISOString(),
  until: until && new Date(until).toISOString(),
  why: 'asleep',
  caught_up: 3,
  lost: 0,
  synced: null,
  unrecoverable: null,
  took_ms: 100,
  first_seq: 1,
  last_seq: 3,
  now: null,
  open: until === null,
  ...change,
});
const days = (gaps: ShownGap[], since = long) => week(now, { since, added: since, gaps });

test('seven days end with today, which ends now', () => {
  const all = days([]);
  expect(all.map(({ label }) => label)).toEqual([
    'Sat 14',
    'Sun 15',
    'Mon 16',
    'Tue 17',
    'Wed 18',
    'Thu 19',
    'Fri 20',
  ]);
  expect(all.map(({ today }) => today).lastIndexOf(true)).toBe(6);
  expect(all[0]?.stretches).toEqual([{ kind: 'connected', from: 0, to: 1 }]);
  expect([all[6]?.now, all[6]?.stretches]).toEqual([0.5, [{ kind: 'connected', from: 0, to: 0.5 }]]);
  expect(weekStart(now)).toBe(at('2026-11-14T00:00'));
});

test('a gap cuts its day in pieces and is marked where it ends', () => {
  const day = days([gap('2026-11-18T06:00', '2026-11-18T18:00')])[4];
  expect(day?.stretches).toEqual([
    { kind: 'connected', from: 0, to: 0.25 },
    { kind: 'offline', from: 0.25, to: 0.75 },
    { kind: 'connected', from: 0.75, to: 1 },
  ]);
  expect(day?.marks.map((mark) => mark.at)).toEqual([0.75]);
});

test('a gap over midnight is on both days, its mark on the second', () => {
  const [, , , tuesday, wednesday] = days([gap('2026-11-17T18:00', '2026-11-18T06:00')]);
  expect(tuesday?.stretches.at(-1)).toEqual({ kind: 'offline', from: 0.75, to: 1 });
  expect(wednesday?.stretches[0]).toEqual({ kind: 'offline', from: 0, to: 0.25 });
  expect([tuesday?.marks.length, wednesday?.marks.length]).toEqual([0, 1]);
});

test('a gap that goes on, and one that began before the week, fill what they cover', () => {
  const all = days([gap('2026-11-20T06:00', null), gap('2026-11-10T00:00', '2026-11-14T12:00')]);
  expect(all[6]?.stretches.at(-1)).toEqual({ kind: 'offline', from: 0.25, to: 0.5 });
  expect(all[0]?.stretches[0]).toEqual({ kind: 'offline', from: 0, to: 0.5 });
});

test('gaps that overlap are one', () => {
  const [, , , , wednesday] = days([
    gap('2026-11-18T06:00', '2026-11-18T12:00'),
    gap('2026-11-18T11:00', '2026-11-18T18:00'),
  ]);
  expect(wednesday?.stretches.filter(({ kind }) => kind === 'offline')).toEqual([
    { kind: 'offline', from: 0.25, to: 0.75 },
  ]);
});

test('nothing is drawn before the tunnel was there, and off is offline', () => {
  const all = days([gap('2026-11-20T06:00', null)], at('2026-11-19T12:00'));
  expect(all[4]?.stretches).toEqual([]);
  expect(all[5]?.stretches).toEqual([{ kind: 'connected', from: 0.5, to: 1 }]);
  expect(all[6]?.stretches.at(-1)).toEqual({ kind: 'offline', from: 0.25, to: 0.5 });
});

test('only coming back with something is marked', () => {
  const quiet = gap('2026-11-18T06:00', '2026-11-18T07:00', { caught_up: 0 });
  const lossy = gap('2026-11-18T08:00', '2026-11-18T09:00', { caught_up: 0, lost: 2 });
  expect(days([quiet, lossy])[4]?.marks.map((mark) => mark.gap.lost)).toEqual([2]);
});

test('nothing is claimed of a past that was not read', () => {
  const tunnel = { created_at: new Date('2026-11-15T12:00').toISOString() };
  const items = [
    gap('2026-11-20T06:00', '2026-11-20T07:00'),
    gap('2026-11-18T06:00', '2026-11-18T07:00'),
  ] as Gap[];
  const history = (next: string | null) => ({ items, next, problem: null });
  expect(knownSince(tunnel, undefined, now)).toBe(now);
  expect(knownSince(tunnel, history(null), now)).toBe(at('2026-11-15T12:00'));
  expect(knownSince(tunnel, history('7'), now)).toBe(at('2026-11-18T06:00'));
});
