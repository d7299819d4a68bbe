import { expect, test } from 'vitest';

import type { Gap, Tunnel } from '../../api/shapes';
import { wayThrough } from './stops';
import {
  gapLength,
  gapSum,
  gapWhen,
  gapWhy,
  listNote,
  lossNote,
  noGaps,
  notTold,
  removalLoss,
  servedSentence,
  settled,
  stateSentence,
  tally,
  tookWords,
  turnedAway,
} from './words';

const iso = (text: string) => new Date(text).toISOString();
const now = new Date('2026-11-20T09:00:00').getTime();

const gap = (change: Partial<Gap> = {}): Gap => ({
  id: 1,
  tunnel_id: 1,
  label: 'acme-dev',
  from: iso('2026-11-20T02:10:00'),
  until: iso('2026-11-20T08:44:00'),
  why: 'asleep',
  caught_up: 37,
  lost: 0,
  took_ms: 210,
  first_seq: 1,
  last_seq: 37,
  ...change,
});

const tunnel = (change: Partial<Tunnel> = {}): Tunnel => ({
  id: 1,
  kind: 'relay',
  label: 'acme-dev',
  tunnel: 'acme-dev',
  source: null,
  sources: [],
  relay: 'https://relay.acme.dev',
  host: 'relay.acme.dev',
  public_url: 'https://relay.acme.dev/acme-dev',
  enabled: true,
  state: 'connected',
  since: iso('2026-11-20T08:44:00'),
  why: null,
  error: null,
  rtt_ms: 38,
  waiting: { letters: 0, bytes: 0, oldest_at: null },
  to_acknowledge: 0,
  refused: { count: 0, last_at: null },
  unknown: 0,
  spoilt: { count: 0, last_at: null },
  last_event_at: iso('2026-11-20T08:59:56'),
  created_at: iso('2026-11-01T08:00:00'),
  gap: gap(),
  ...change,
});

test('one sentence says how a tunnel is, the next what that means', () => {
  expect(stateSentence(tunnel(), now)).toEqual({
    strong: 'Connected since 08:44.',
    rest: 'Offline 02:10–08:44 while the computer slept: 37 events caught up, 0 lost.',
  });
  const cut = stateSentence(tunnel({ state: 'offline', why: 'relay', since: iso('2026-11-20T02:10') }), now);
  expect(cut.strong).toBe('Offline since 02:10: the relay does not answer.');
  expect(cut.rest).toMatch(/keeps what arrives, sealed/);
  const smee = tunnel({ kind: 'smee', state: 'limited', host: 'smee.io' });
  expect(stateSentence(smee, now).rest).toBe('Rewrites JSON: signatures can’t verify.');
  expect(stateSentence({ ...smee, state: 'offline' }, now).rest).toMatch(/lost: nobody keeps it/);
});

test('while events wait at the relay, the sentence counts them and claims no end', () => {
  const waiting = { letters: 1204, bytes: 9, oldest_at: null };
  const rest = (change: Partial<Tunnel>) => stateSentence(tunnel({ waiting, ...change }), now).rest;
  expect(rest({ gap: gap({ until: null }) })).toBe('37 events caught up so far, 1,204 still at the relay.');
  expect(rest({})).toBe('1,204 events on the way from the relay.');
});

test('where there is little room, the sentence is shorter and keeps its numbers', () => {
  const brief = (change: Partial<Tunnel>) => stateSentence(tunnel(change), now, { brief: true }).rest;
  expect(brief({})).toBe('Offline 02:10–08:44: 37 caught up, 0 lost.');
  expect(brief({ state: 'offline' })).toBe('The relay keeps what arrives.');
  expect(brief({ state: 'refused' })).toBe('Nothing is caught up.');
  expect(brief({ kind: 'smee', state: 'offline' })).toBe('What is sent is lost.');
});

test('a connected tunnel with trouble says so, and whether this app still stores', () => {
  const troubled = (code: string) => tunnel({ error: { code, message: 'no', hint: null } });
  expect(stateSentence(troubled('disk-full'), now).strong).toBe('Connected since 08:44, with a problem.');
  const app = (code: string) =>
    wayThrough(troubled(code), { now, perMinute: 0, several: false, places: [] }).stops[2];
  expect(app('disk-full')).toMatchObject({ tone: 'warn', state: 'Can’t store events now' });
  expect(app('letter-unreadable')).toMatchObject({ tone: 'ok', state: 'Stores and answers' });
});

test('a refused tunnel says so in its gap too, while that lasts', () => {
  const open = gap({ why: 'relay', until: null });
  expect(gapWhy(open, { state: 'refused' })).toBe('Relay refused');
  expect(gapWhy(open, { state: 'offline' })).toBe('Relay did not answer');
  expect(gapWhy(gap({ why: 'relay' }), { state: 'refused' })).toBe('Relay did not answer');
});

test('where there are no gaps, it is said what would be noted', () => {
  expect(noGaps(tunnel(), false)).toBe('None so far. Being offline is noted here, with what was caught up.');
  expect(noGaps(tunnel({ kind: 'ngrok' }), true)).toMatch(/^None in 7 days\..*nobody knows/);
});

test('a tunnel without a gap says no more than it knows', () => {
  expect(stateSentence(tunnel({ gap: null }), now).rest).toBe('');
});

test('what makes no answer is called by its name', () => {
  const quick = tunnel({ kind: 'cloudflared', state: 'offline', why: 'relay' });
  expect(stateSentence(quick, now).strong).toMatch(/: cloudflared does not run\.$/);
  expect(stateSentence({ ...quick, kind: 'smee' }, now).strong).toMatch(/: the channel does not answer\.$/);
});

test('what could not be read is said, and what cannot be seen is not called nothing', () => {
  const spoilt = turnedAway(tunnel({ spoilt: { count: 2, last_at: null } }), now);
  expect(spoilt).toMatch(/^2 events came through and could not be read: they are gone/);
  const refused = turnedAway(tunnel({ refused: { count: 1, last_at: null } }), now);
  expect(refused).toMatch(/was refused, or dropped after waiting too long/);
  const away = tunnel({ state: 'offline', waiting: { letters: 0, bytes: 0, oldest_at: null } });
  expect(removalLoss(away)).toMatch(/is unknown now, and is lost to this computer/);
  expect(removalLoss(tunnel())).not.toMatch(/only this app/);
  expect(notTold(tunnel())).toMatch(/^relay\.acme\.dev could not be told.* 30 days/);
});

test('the list counts states and names limits', () => {
  expect(tally([tunnel(), tunnel({ state: 'limited' }), tunnel({ state: 'off' })])).toBe(
    '1 connected, 1 limited, 1 off',
  );
  expect(listNote(tunnel(), now)).toBe('relay.acme.dev');
  const quick = tunnel({ kind: 'cloudflared', state: 'off', since: iso('2026-11-19T12:00') });
  expect(listNote(quick, now)).toBe('Quick public URL, off since Thu');
});

test('a gap in the table', () => {
  expect(gapWhen(gap(), now)).toBe('Today 02:10–08:44');
  expect(gapWhen(gap({ until: null }), now)).toBe('Today 02:10 until now');
  expect(gapLength(gap(), now)).toBe('6 h 34 min');
  expect(gapLength(gap({ until: null }), now)).toBe('6 h 50 min');
  expect([tookWords(210), tookWords(null), tookWords(3), tookWords(65_000)]).toEqual([
    '0.2 s',
    '–',
    '0.1 s',
    '1 min 5 s',
  ]);
});

test('while it is being caught up a gap has ended already', () => {
  const since = iso('2026-11-20T08:44:00');
  const open = [gap({ until: null }), gap()];
  expect(settled(open, tunnel({ since })).map(({ until }) => until)).toEqual([since, open[1]!.until]);
  expect(settled(open, tunnel({ state: 'offline', since }))[0]?.until).toBeNull();
});

test('a tunnel that is offline has a gap, whether it is stored yet or not', () => {
  const since = iso('2026-11-20T08:44:00');
  const [now, ...rest] = settled([gap()], tunnel({ state: 'offline', why: 'relay', since }));
  expect(now).toMatchObject({ from: since, until: null, why: 'relay', lost: null });
  expect(rest).toEqual([gap()]);
  expect(settled([], tunnel({ state: 'off', since }))[0]?.why).toBe('off');
  expect(settled([], tunnel({ since }))).toEqual([]);
});

test('what gaps come to, and what to do about a loss', () => {
  expect(gapSum([gap(), gap({ caught_up: 3 })])).toBe('2 in 7 days, 40 events caught up');
  expect(gapSum([gap({ lost: 2 })])).toBe('1 in 7 days, 37 events caught up, 2 not recoverable');
  expect(lossNote(gap({ from: iso('2026-11-16T01:06'), lost: 2 }), now)).toMatch(
    /^Mon: 2 requests are lost\. The relay refused them and told the sender so, or dropped them/,
  );
});

test('what the relay turned away is said once there is something', () => {
  expect(turnedAway(tunnel(), now)).toBeNull();
  expect(turnedAway(tunnel({ unknown: 1 }), now)).toMatch(/^1 request named a source that is not here/);
  const refused = tunnel({ refused: { count: 3, last_at: iso('2026-11-20T08:00') } });
  expect(turnedAway(refused, now)).toMatch(
    /^3 requests went over the relay’s limits and were refused, or dropped after waiting too long, the last one today 08:00/,
  );
});

test('removing says what is lost', () => {
  expect(removalLoss(tunnel())).not.toMatch(/lost/);
  expect(removalLoss(tunnel({ waiting: { letters: 14, bytes: 9, oldest_at: null } }))).toMatch(
    /14 events that wait at the relay are lost/,
  );
});

const way = (change: Partial<Tunnel>, held = false) =>
  wayThrough(tunnel(change), {
    now,
    perMinute: 12,
    several: false,
    places: [
      { place: 'localhost:3000', short: ':3000', held: false, down: false, waiting: 0 },
      { place: 'localhost:8787', short: ':8787', held, down: held, waiting: held ? 14 : 0 },
    ],
  });

test('four stations say how they are', () => {
  const { stops, legs } = way({}, true);
  expect(stops.map(({ state, note }) => [state, note])).toEqual([
    ['12 a minute by this tunnel', 'last one 4 s ago'],
    ['Connected', '0 in the mailbox, sealed'],
    ['Stores and answers', '0 to acknowledge'],
    ['1 of 2 up', '14 waiting for :8787'],
  ]);
  expect(legs).toEqual([
    { tone: 'ok', label: 'signed requests' },
    { tone: 'ok', label: '38 ms' },
    { tone: 'warn', label: '2 targets' },
  ]);
});

test('a line is dashed while something waits, and broken when it is cut', () => {
  const tone = (change: Partial<Tunnel>) => way(change).legs[1]?.tone;
  expect(tone({ waiting: { letters: 3, bytes: 9, oldest_at: null } })).toBe('warn');
  expect(tone({ state: 'connecting' })).toBe('warn');
  expect(tone({ state: 'offline' })).toBe('bad');
  expect(tone({ state: 'off' })).toBe('none');
});

test('what can’t be seen is not claimed', () => {
  const { stops, legs } = way({ state: 'offline' });
  expect([legs[0]?.tone, stops[1]?.note]).toEqual(['none', 'mailbox unknown']);
});

test('which sources a relay is told of is said, also where none was chosen', () => {
  expect(servedSentence({ sources: [] })).toBe(
    'None chosen, so the relay serves every source, including those you add later.',
  );
  expect(servedSentence({ sources: ['github'] })).toBe('The relay serves only github.');
  expect(servedSentence({ sources: ['a', 'b', 'c'] })).toBe('The relay serves only a, b and c.');
});
