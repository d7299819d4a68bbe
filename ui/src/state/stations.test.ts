import { expect, test } from 'vitest';

import { gap, iso, now, silent, target, tunnel, world } from './examples';
import { fewStationsOf, lastBack, stationsOf } from './stations';
import type { World } from './world';

const values = (change: Partial<World>) => stationsOf(world(change)).map(({ value }) => value);

test('the strip says of each stop how it is', () => {
  expect(values({ targets: [target(1, 3000)] })).toEqual(['1/min', '38 ms', '0 queued', 'up']);
  expect(values({ tunnels: [], events: 0, captures: false })).toEqual([
    'none yet',
    'not set up',
    'not capturing',
    'not set',
  ]);
  expect(values({ tunnels: null, isConnected: false }).slice(1, 3)).toEqual(['', 'not connected']);
});

test('where this app can’t store, the strip isn’t green', () => {
  const full = tunnel({
    stores: false,
    error: { code: 'disk-full', message: 'the disk is full', hint: null },
  });
  const app = stationsOf(world({ tunnels: [tunnel({ id: 2 }), full] })).find(({ kind }) => kind === 'app');
  expect(app).toMatchObject({ tone: 'warn', value: 'can’t store' });
});

test('targets at one host and port are one place, which is as it was seen last', () => {
  const answered = { is: 'answered', at: iso('2026-11-20T08:59:30') } as const;
  const old = { ...silent, since: iso('2026-11-20T08:40') };
  const station = (...targets: ReturnType<typeof target>[]) => stationsOf(world({ targets })).slice(3);
  expect(station(target(1, 3000, { state: old }), target(2, 3000, { state: answered }))).toMatchObject([
    { name: 'localhost:3000', short: ':3000', tone: 'ok', value: 'up' },
  ]);
  expect(station(target(1, 3000, { state: answered }), target(2, 3000, { paused: true }))[0]?.value).toBe(
    '1 of 2 paused',
  );
  expect(station(target(1, 3000, { state: silent }))[0]).toMatchObject({
    value: 'nobody answers',
    says: 'Nobody answers since 08:58: connection refused.',
  });
});

test('where there is little room, it is said how many of several are so', () => {
  const troubled = tunnel({
    id: 9,
    state: 'connected',
    error: { code: 'E_STORE', message: 'the relay could not store an event', hint: 'Free some space.' },
  });
  const several = (...states: ('connected' | 'limited' | 'offline' | 'refused' | 'troubled')[]) => {
    const tunnels = states.map((state, n) =>
      state === 'troubled' ? troubled : tunnel({ id: n + 1, state }),
    );
    return fewStationsOf(world({ tunnels })).find(({ kind }) => kind === 'relay')?.value;
  };
  expect(several('connected', 'connected')).toBe('all up');
  expect(several('connected', 'limited')).toBe('1 of them limited');
  expect(several('limited', 'limited')).toBe('all limited');
  expect(several('offline', 'refused', 'connected')).toBe('2 of them not connected');
  expect(several('offline', 'refused')).toBe('none connected');
  expect(several('connected', 'troubled')).toBe('1 of them with a problem');
  expect(several('limited', 'troubled')).toBe('all need attention');
});

test('a tunnel is said to be back for a day, and as long as it is', () => {
  const back = (change: Partial<World>) => lastBack([gap()], world(change));
  expect(back({})).toEqual(gap());
  expect(back({ tunnels: [tunnel({ state: 'offline' })] })).toBeNull();
  expect(back({ now: now + 24 * 60 * 60_000 })).toBeNull();
});
