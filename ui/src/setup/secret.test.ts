import { expect, test } from 'vitest';
import {
  keptIn,
  labelProblem,
  looksUnlike,
  masked,
  placeOf,
  secretBody,
  secretProblem,
  signedHow,
} from './secret';

test('a masked secret keeps its length, its kind and its end', () => {
  expect(masked('whsec_abcdefghijklmnopqrstq7Zk')).toBe(`whsec_${'•'.repeat(20)}q7Zk`);
  expect(masked('abcdefghijklmnopqrstuvwx')).toBe(`${'•'.repeat(20)}uvwx`);
});

test('a short secret shows nothing', () => {
  expect(masked('whsec_abc')).toBe('•'.repeat(9));
  expect(masked('')).toBe('');
});

test('bytes go out as base64, without what copying adds', () => {
  expect(secretBody(' ünï \n')).toEqual({ value_base64: 'w7xuw68=' });
  expect(secretBody('env:STRIPE_SECRET')).toEqual({ env: 'STRIPE_SECRET' });
});

test('what can’t be a secret says why', () => {
  expect(secretProblem('   ')).toContain('Paste');
  expect(secretProblem('env:not a name')).toContain('env:STRIPE_WEBHOOK_SECRET');
  expect(secretProblem('env:A_1')).toBeNull();
});

test('labels go by the vault’s rule', () => {
  expect(labelProblem('Test mode')).toBeNull();
  expect(labelProblem(' ')).not.toBeNull();
  expect(labelProblem('a\u0007')).not.toBeNull();
  expect(labelProblem('é'.repeat(100))).toBeNull();
  expect(labelProblem('é'.repeat(101))).not.toBeNull();
  expect(labelProblem('live', ['live'])).toContain('already');
});

test('a secret that looks like another’s gets a word, while it is typed too', () => {
  const hint = 'starts with whsec_, from the endpoint’s page';
  expect(looksUnlike(hint, 'sk_live_123')).toContain('whsec_');
  expect(looksUnlike(hint, 'whs')).toBeNull();
  expect(looksUnlike(hint, 'whsec_123')).toBeNull();
  expect(looksUnlike(hint, 'env:X')).toBeNull();
  expect(looksUnlike(null, 'anything')).toBeNull();
});

test('where it is kept is never promised wrongly', () => {
  expect(keptIn(['keychain']).text).toMatch(/^Stored in the system keychain\. /);
  expect(keptIn([]).text).toContain('else in a file');
  expect(keptIn(['keychain', 'file'])).toMatchObject({ warns: true });
});

test('a toast names the secret that signed, or says why none did', () => {
  const how = (secret: string) => signedHow({ secret, unsigned: null });
  expect(how('the secret "Test mode" of stripe')).toBe('signed with “Test mode”');
  expect(how('the public test secret hookmitt-test-stripe')).toBe('signed with hookmitt-test-stripe');
  expect(how('the secret given')).toBe('signed with given');
  expect(signedHow({ secret: null, unsigned: 'Datadog signs nothing' })).toBe(
    'sent unsigned: Datadog signs nothing',
  );
});

test('a secret’s place is said', () => {
  expect(placeOf({ kind: 'env', env: 'A' })).toBe('in the variable A');
  expect(placeOf({ kind: 'keychain', env: null })).toBe('in the system keychain');
});
