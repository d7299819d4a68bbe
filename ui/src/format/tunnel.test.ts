import { expect, test } from 'vitest';

import { stateLabel, stateWord, tally, toneOf, urlOf } from './tunnel';

test('a source has a URL at each tunnel that serves it', () => {
  const relay = {
    kind: 'relay',
    public_url: 'https://relay.acme.dev/acme-dev',
    source: null,
    sources: [] as string[],
  } as const;
  expect(urlOf(relay, 'shop')).toBe('https://relay.acme.dev/acme-dev/shop');
  expect(urlOf({ ...relay, sources: ['shop'] }, 'shop')).toBe('https://relay.acme.dev/acme-dev/shop');
  expect(urlOf({ ...relay, sources: ['other'] }, 'shop')).toBeNull();
  const channel = {
    kind: 'smee',
    public_url: 'https://smee.io/AbC123',
    source: 'shop',
    sources: [] as string[],
  } as const;
  expect([urlOf(channel, 'shop'), urlOf(channel, 'other')]).toEqual(['https://smee.io/AbC123', null]);
  expect(urlOf({ ...channel, public_url: null }, 'shop')).toBeNull();
});

test('a tunnel is told in a word, by its round trip where it is well', () => {
  expect(stateWord({ state: 'connected', rtt_ms: 38, error: null, hindrance: null })).toBe('38 ms');
  expect(stateWord({ state: 'connected', rtt_ms: null, error: null, hindrance: null })).toBe('connected');
  const error = { code: 'disk-full', message: 'the disk is full', hint: null };
  expect(stateWord({ state: 'connected', rtt_ms: 38, error, hindrance: null })).toBe('problem');
  expect(stateWord({ state: 'limited', rtt_ms: null, error: null, hindrance: null })).toBe('limited');
  const states = ['connected', 'limited', 'connecting', 'offline', 'refused', 'off'] as const;
  expect(states.map((state) => toneOf({ state, error: null, hindrance: null }))).toEqual([
    'ok',
    'warn',
    'warn',
    'bad',
    'bad',
    'none',
  ]);
});

test('what is wrong is not green, however well it is connected', () => {
  const error = { code: 'disk-full', message: 'no room', hint: null };
  expect(toneOf({ state: 'connected', error, hindrance: null })).toBe('warn');
});

test('a tunnel that is limited, refused or kept from running is called so everywhere', () => {
  const one = (state: 'limited' | 'refused', hindrance: 'denied' | 'hindered' | null = null) => {
    const tunnel = { state, hindrance, error: null, rtt_ms: 38 };
    return [stateWord(tunnel), stateLabel(tunnel), tally([tunnel])];
  };
  expect(one('limited')).toEqual(['limited', 'Connected, limited', '1 limited']);
  expect(one('refused', 'denied')).toEqual(['refused', 'Refused', '1 refused']);
  expect(one('refused', 'hindered')).toEqual(['can’t connect', 'Can’t connect', '1 can’t connect']);
});
