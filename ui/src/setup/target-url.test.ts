import { expect, test } from 'vitest';
import { doubledPath, placeOf, readTarget, shortTarget } from './target-url';

test.each([
  ['3000', 'http://localhost:3000', 3000],
  [':3000/hooks', 'http://localhost:3000/hooks', 3000],
  [' localhost:8080 ', 'http://localhost:8080', 8080],
  ['localhost', 'http://localhost', 80],
  ['[::1]:9000/x', 'http://[::1]:9000/x', 9000],
  ['http://127.0.0.1:4000/a?b=c', 'http://127.0.0.1:4000/a?b=c', 4000],
])('%s is a target on this machine', (text, url, port) => {
  expect(readTarget(text)).toMatchObject({ ok: true, url, port, loopback: true });
});

test('other machines are told apart', () => {
  expect(readTarget('https://hooks.example.com/x')).toMatchObject({ ok: true, port: 443, loopback: false });
  expect(readTarget('example.com:81')).toMatchObject({ ok: true, url: 'http://example.com:81', port: 81 });
  expect(placeOf({ host: 'example.com', port: 81, loopback: false })).toBe('example.com:81');
  expect(placeOf({ host: 'localhost', port: 3000, loopback: true })).toBe('port 3000');
});

test.each([
  ['', 'like `http'],
  ['server', 'like `http'],
  ['ftp://localhost', 'like `http'],
  ['http://', 'like `http'],
  ['http://localhost:99999', 'like `http'],
  ['http://localhost:0', 'Port 0'],
  ['http://me:pw@localhost', 'user name'],
  ['localhost:3000/a#b', '#'],
  ['localhost:3000/a b', '%20'],
  ['localhost:3000/ä', 'percent-encoded'],
])('%s is none, and it says why', (text, why) => {
  const read = readTarget(text);
  expect(read.ok).toBe(false);
  expect(!read.ok && read.problem).toContain(why);
});

test('lists leave the scheme out', () => {
  expect(shortTarget('http://localhost:3000/webhooks')).toBe('localhost:3000/webhooks');
});

test('a path that the target and its events both have is noticed', () => {
  expect(doubledPath('http://localhost:3000/webhooks/stripe', '/webhooks/stripe')).toEqual({
    called: '/webhooks/stripe/webhooks/stripe',
    instead: 'http://localhost:3000',
  });
  expect(doubledPath('http://localhost:3000/api/hooks/', '/hooks')?.instead).toBe(
    'http://localhost:3000/api',
  );
  expect(doubledPath('http://localhost:3000/webhooks', '')).toBeNull();
  expect(doubledPath('http://localhost:3000', '/webhooks')).toBeNull();
});
