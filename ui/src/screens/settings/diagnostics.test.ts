import { expect, test } from 'vitest';
import { dataDirectory, diagnosticsText } from './diagnostics';

const mend = { fixable: false, fixed: null };
const checks = [
  { name: 'inbox', ok: true, message: '/home/x/hookmitt/inbox.db is sound', hint: null, ...mend },
  {
    name: 'target',
    ok: false,
    message: 'nobody answers at http://localhost:3000/a?key=hidden',
    hint: 'start your server',
    ...mend,
  },
];

test('diagnostics say how it is, and nothing that is secret', () => {
  const facts = {
    version: '0.1.0',
    shown: 'browser',
    capture: ['http://127.0.0.1:4400'],
    startedAt: null,
    counts: { events: 3 },
  };
  const text = diagnosticsText(facts, checks);
  expect(text).toContain('hookmitt 0.1.0');
  expect(text).toContain('FAIL target: nobody answers at http://localhost:3000/a?…');
  expect(text).not.toContain('hidden');
});

test('the data directory is where the inbox is', () => {
  expect(dataDirectory(checks)).toBe('/home/x/hookmitt');
  expect(
    dataDirectory([
      { name: 'inbox', ok: true, message: String.raw`C:\data\inbox.db is sound`, hint: null, ...mend },
    ]),
  ).toBe('C:\\data');
  expect(dataDirectory([])).toBeNull();
});
