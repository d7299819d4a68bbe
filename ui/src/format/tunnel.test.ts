import { expect, test } from 'vitest';

import { stateWord, toneOf, urlOf } from './tunnel';

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
  expect(stateWord({ state: 'connected', rtt_ms: 38, error: null })).toBe('38 ms');
  expect(stateWord({ state: 'connected', rtt_ms: null, error: null })).toBe('connected');
  const error = { code: 'disk-full', message: 'the disk is full', hint: null };
  expect(stateWord({ state: 'connected', rtt_ms: 38, error })).toBe('problem');
  expect(stateWord({ state: 'limited', rtt_ms: null, error: null })).toBe('limited');
  const states = ['connected', 'limited', 'connecting', 'offline', 'refused', 'off'] as const;
  expect(states.map((state) => toneOf({ state, error: null }))).toEqual([
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
  expect(toneOf({ state: 'connected', error })).toBe('warn');
});
