import { expect, test } from 'vitest';

import { Problem } from '../../api/client';
import { EMPTY, faultsIn, faultsOf, orderOf, type Fields } from './add-form';

const fields = (change: Partial<Fields>): Fields => ({ ...EMPTY, ...change });
const problem = (code: string, detail = 'it went wrong', status = 400) =>
  new Problem({ code, detail, status, hint: null });

test('a relay needs a URL and a token, and a name that a URL can hold', () => {
  expect(Object.keys(faultsOf('relay', EMPTY))).toEqual(['relay', 'token']);
  const good = fields({ relay: ' relay.acme.dev', token: 'hmr_x' });
  expect(faultsOf('relay', good)).toEqual({});
  expect(faultsOf('relay', { ...good, name: 'No' })).toHaveProperty('name');
  expect(orderOf('relay', good)).toEqual({ relay: 'relay.acme.dev', token: 'hmr_x', name: null });
});

test('an invitation, a channel and a program ask for what they need', () => {
  expect(faultsOf('invite', fields({ invite: 'hello' }))).toHaveProperty('invite');
  expect(faultsOf('invite', fields({ invite: ' hookmitt-invite:abc\n' }))).toEqual({});
  expect(faultsOf('smee', fields({ channel: 'smee', source: 'shop' }))).toHaveProperty('channel');
  expect(faultsOf('smee', fields({ channel: 'https://smee.io/a', source: 'shop' }))).toEqual({});
  expect(faultsOf('quick', EMPTY)).toHaveProperty('source');
  expect(orderOf('quick', fields({ source: 'shop' }))).toEqual({ kind: 'cloudflared', source: 'shop' });
});

test('a refusal stands at the field that it is about', () => {
  const where = (code: string, words?: string) => Object.keys(faultsIn('relay', problem(code, words)))[0];
  expect(where('wrong-token')).toBe('token');
  expect(where('name-taken')).toBe('name');
  expect(where('relay-unreachable')).toBe('relay');
  expect(where('relay-without-tls')).toBe('relay');
  expect(where('bad-relay-url')).toBe('relay');
  expect(where('refused', 'the relay does not know this token')).toBe('token');
  expect(where('other')).toBe('form');
  expect(Object.keys(faultsIn('relay', problem('unreachable', 'hookmitt does not answer', 0)))).toEqual([
    'form',
  ]);
  expect(Object.keys(faultsIn('invite', problem('used')))).toEqual(['invite']);
});
