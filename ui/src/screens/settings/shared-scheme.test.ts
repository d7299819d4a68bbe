import { expect, test } from 'vitest';
import type { SourceFields } from './source-form';
import { readScheme, sharedScheme } from './shared-scheme';

const fields = {
  signature_header: 'X-Sig',
  algorithm: 'hmac-sha512',
  encoding: 'base64',
  prefix: 'v1=',
  signed_content: '{timestamp}.{body}',
  timestamp_header: 'X-Time',
  id_at: '/id',
  type_at: '',
  time_at: '',
  object_at: '',
  signature_at: '',
  format: 'plain',
  version: '',
  separator: '',
  key: 'utf8',
  timestamp_at: '',
  timestamp_unit: 's',
  title_at: '',
  tolerance_s: '600',
} as SourceFields;

test('a scheme that is copied and pasted is the same', () => {
  const shared = sharedScheme(fields);
  expect(JSON.parse(shared)).toMatchObject({ hookmitt_scheme: 1, tolerance_s: 600 });
  expect(shared).not.toContain('type_at');
  expect(readScheme(shared)).toMatchObject({ edits: { ...fields, signing: 'own' } });
});

test('a bare scheme will do, and empties what it doesn’t say', () => {
  expect(readScheme('{"signature_header":"X-S","prefix":null}')).toMatchObject({
    edits: { signature_header: 'X-S', prefix: '', algorithm: 'hmac-sha256', encoding: 'hex', id_at: '' },
  });
});

test.each([
  ['', 'isn’t a scheme'],
  ['[1]', 'isn’t a scheme'],
  ['{"secret":"x","signature_header":"X"}', '“secret”'],
  ['{"generic":{}}', 'signature_header'],
  ['{"signature_header":"X","prefix":1}', '“prefix”'],
])('%s is refused in words', (text, why) => {
  const read = readScheme(text);
  expect('problem' in read && read.problem).toContain(why);
});
