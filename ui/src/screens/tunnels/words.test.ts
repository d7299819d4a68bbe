import { expect, test } from 'vitest';

import type { Tunnel } from '../../api/shapes';
import { tally } from '../../format/tunnel';
import { gap, iso, now, silent, target, tunnel, world } from '../../state/examples';
import { wayThrough } from './stops';
import { listNote, lossNote, notTold, removalLoss, servedSentence, stateSentence, turnedAway } from './words';

test('one sentence says how a tunnel is, the next what that means', () => {
  expect(stateSentence(tunnel(), now)).toEqual({
    strong: 'Connected since 08:44.',
    rest: 'Offline 02:10–08:44 while the computer slept: 37 events caught up, 0 lost.',
  });
  const cut = stateSentence(
    tunnel({ state: 'offline', why: 'connection_refused', since: iso('2026-11-20T02:10') }),
    now,
  );
  expect(cut.strong).toBe('Offline since 02:10: connection refused.');
  expect(cut.rest).toMatch(/stores what arrives, sealed/);
  const smee = tunnel({ kind: 'smee', state: 'limited', host: 'smee.io' });
  expect(stateSentence(smee, now).rest).toBe('Rewrites JSON: signatures can’t verify.');
  expect(stateSentence({ ...smee, state: 'offline' }, now).rest).toMatch(/lost: nothing stores it/);
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
  expect(brief({ state: 'offline' })).toBe('The relay stores what arrives.');
  expect(brief({ state: 'refused' })).toBe('Nothing is caught up.');
  expect(brief({ kind: 'smee', state: 'offline' })).toBe('What is sent is lost.');
});

test('a connected tunnel with trouble says so, and whether this app still stores', () => {
  const troubled = (code: string) => tunnel({ error: { code, message: 'no', hint: null } });
  expect(stateSentence(troubled('disk-full'), now).strong).toBe('Connected since 08:44, with a problem.');
  const app = (stores: boolean) => {
    const one = { ...troubled('disk-full'), stores };
    return wayThrough(one, world({ tunnels: [one] })).stops[2];
  };
  expect(app(false)).toMatchObject({ tone: 'warn', state: 'Can’t store events now' });
  expect(app(true)).toMatchObject({ tone: 'ok', state: 'Stores and answers' });
});

test('a tunnel without a gap says no more than it knows', () => {
  expect(stateSentence(tunnel({ gap: null }), now).rest).toBe('');
});

test('what is missing is called by its name', () => {
  const quick = tunnel({ kind: 'cloudflared', state: 'offline', why: 'not_running' });
  expect(stateSentence(quick, now).strong).toMatch(/: cloudflared isn’t running\.$/);
  expect(stateSentence({ ...quick, kind: 'smee', why: 'relay' }, now).strong).toMatch(/: channel fault\.$/);
});

test('a gap keeps the reason for which it began, beside what is in the way now', () => {
  const strong = (change: Partial<Tunnel>) =>
    stateSentence(tunnel({ state: 'offline', ...change }), now).strong;
  expect(strong({ why: 'asleep', hindrance: 'connection_refused' })).toBe(
    'Offline since 08:44, when the computer slept; now connection refused.',
  );
  expect(strong({ why: 'network', hindrance: null })).toBe('Offline since 08:44: the network is cut.');
  expect(strong({ state: 'refused', hindrance: 'hindered' })).toBe('Can’t connect since 08:44.');
});

test('a loss is told with what to do', () => {
  expect(lossNote(gap({ from: iso('2026-11-16T01:06'), lost: 2 }), now)).toMatch(
    /^Mon: 2 requests are lost\. The relay refused them and told the sender, or dropped them/,
  );
});

test('what could not be read is said, and what cannot be seen is not called nothing', () => {
  const spoilt = turnedAway(tunnel({ spoilt: { count: 2, last_at: null } }), now);
  expect(spoilt).toMatch(/^2 events could not be decrypted: they are lost/);
  const refused = turnedAway(tunnel({ refused: { count: 1, last_at: null } }), now);
  expect(refused).toMatch(/was refused, or dropped after waiting too long/);
  const away = tunnel({ state: 'offline', waiting: { letters: 0, bytes: 0, oldest_at: null } });
  expect(removalLoss(away)).toMatch(/is unknown, and is lost to this computer/);
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

test('what the relay turned away is said once there is something', () => {
  expect(turnedAway(tunnel(), now)).toBeNull();
  expect(turnedAway(tunnel({ unknown: 1 }), now)).toMatch(
    /^1 request named a source that doesn’t exist here and got a 404/,
  );
  expect(turnedAway(tunnel({ unknown: 3, unserved: ['githb', 'shop'] }), now)).toMatch(
    /^3 requests named a source that doesn’t exist here \(lately githb and shop\) and got a 404/,
  );
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

const way = (change: Partial<Tunnel>, held = false) => {
  const one = tunnel(change);
  const came = Array.from({ length: 12 }, () => ({ at: now - 4_000, via: 'tunnel' as const }));
  const targets = [target(1, 3000), target(2, 8787, held ? { state: silent } : {})];
  return wayThrough(one, world({ tunnels: [one], came, targets, waiting: new Map([[2, held ? 14 : 0]]) }));
};

test('four stations say how they are', () => {
  const { stops, legs } = way({}, true);
  expect(stops.map(({ state, note }) => [state, note])).toEqual([
    ['12 a minute through this tunnel', 'last one 4 s ago'],
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
