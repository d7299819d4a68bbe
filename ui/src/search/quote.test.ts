import { expect, test } from 'vitest';

import { joined, quoted, term } from './quote';

test.each([
  ['github', 'github'],
  ['issues.opened', 'issues.opened'],
  ['2026-11-20T02:10:05+01:00', '2026-11-20T02:10:05+01:00'],
  ['user created', '"user created"'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say \\"hi\\""'],
  ['C:\\temp', 'C:\\temp'],
  ['C:\\my files', '"C:\\\\my files"'],
  ['-5', '-5'],
  ['*.opened', '"*.opened"'],
  ['', '""'],
])('%s is written so that it stays one value', (value, written) => expect(quoted(value)).toBe(written));

test('terms are a key and a value, joined by spaces', () =>
  expect(joined(term('source', 'shop'), '', term('type', 'user created'))).toBe(
    'source:shop type:"user created"',
  ));
