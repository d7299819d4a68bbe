import { expect, test } from 'vitest';

import { moment } from './moment';
import { filterOf, parse, written } from './tokens';

const asked = (text: string) => filterOf(parse(text).tokens);

test('tokens become the parameters of the API', () => {
  expect(asked('source:github type:issues.* verdict:invalid status:dead_letter')).toEqual({
    source: 'github',
    type: 'issues.*',
    verdict: 'invalid',
    status: 'dead_letter',
  });
  expect(asked('after:2026-01-31T12:00:00Z before:2026-02-01T00:00:00Z')).toEqual({
    since: '2026-01-31T12:00:00.000Z',
    until: '2026-02-01T00:00:00.000Z',
  });
});

test('words are looked for as they stand', () => {
  expect(asked('ada  lovelace')).toEqual({ q: 'ada lovelace' });
  expect(asked('"source:github" rose')).toEqual({ q: 'source:github rose' });
  expect(asked('https://example.com/a')).toEqual({ q: 'https://example.com/a' });
  expect(asked('type:"user created" x')).toEqual({ type: 'user created', q: 'x' });
});

test('of several with one name the last counts', () =>
  expect(asked('source:a source:b')).toEqual({ source: 'b' }));

test('a wrong value is named, with its columns', () => {
  expect(parse('verdict:wrong after:today').fault).toEqual({
    start: 8,
    end: 13,
    message: 'No verdict is called “wrong”. Use valid, invalid, unsigned, no_secret, unsupported or pending.',
  });
  expect(parse('after:soon').fault?.message).toContain('“soon” isn’t a time');
});

test('a wrong name is named, with its columns', () => {
  expect(parse('x colour:red').fault).toMatchObject({ start: 2, end: 9 });
  expect(parse('source:').fault?.message).toBe('“source:” needs a value.');
});

test('a token is written as it is typed', () => {
  expect(written({ name: 'type', value: 'user created' })).toBe('type:"user created"');
  expect(parse(written({ name: null, value: 'say "hi"' })).tokens[0]?.value).toBe('say "hi"');
});

test('no text makes it hang or throw', () => {
  for (const text of ['', ' ', '"', '::', 'a:"', '\\"\\', '"'.repeat(1_000), `${'a:'.repeat(500)}`])
    parse(text);
});

const now = new Date(2026, 10, 20, 9, 2, 0);

test.each([
  ['today', new Date(2026, 10, 20)],
  ['yesterday', new Date(2026, 10, 19)],
  ['2h', new Date(2026, 10, 20, 7, 2)],
  ['08:30', new Date(2026, 10, 20, 8, 30)],
  ['2026-11-14', new Date(2026, 10, 14)],
])('%s is a moment', (word, at) => expect(moment(word, now)).toBe(at.toISOString()));

test.each(['soon', '25:00', '2026-02-31', '2026-13-01', '9999999h', ''])('%s is none', (word) =>
  expect(moment(word, now)).toBeNull(),
);
