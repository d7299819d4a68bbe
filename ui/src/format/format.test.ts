import { expect, test } from 'vitest';

import { count, counted, percent } from './count';
import { duration, wait } from './duration';
import { exactSize, size } from './size';
import { exactTime, preciseTime, rowTime } from './time';
import { capOf, eventName, host, place, saidVerdict, visible } from './words';

test('numbers have thousands commas and their noun', () => {
  expect([count(4812), counted(1, 'event'), counted(4812, 'event'), percent(0.974)]).toEqual([
    '4,812',
    '1 event',
    '4,812 events',
    '97.4 %',
  ]);
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 kB'],
  [3_412, '3.4 kB'],
  [18_000, '18 kB'],
  [21_449, '21.4 kB'],
  [999_499, '999 kB'],
  [999_600, '1.0 MB'],
  [18_000_000, '18 MB'],
])('%i bytes in a column are %s', (bytes, text) => expect(size(bytes)).toBe(text));

test('bytes are exact below 10 kB in the detail', () => {
  expect([exactSize(3_412), exactSize(9_999), exactSize(10_000)]).toEqual(['3,412 B', '9,999 B', '10 kB']);
});

test.each([
  [0, '0 ms'],
  [42.4, '42 ms'],
  [1_840, '1.84 s'],
  [12_340, '12.3 s'],
  [59_960, '1 min'],
  [312_000, '5 min 12 s'],
  [7_500_000, '2 h 5 min'],
  [273_600_000, '3 d 4 h'],
])('%d ms are %s', (ms, text) => expect(duration(ms)).toBe(text));

test('waits', () => {
  expect([wait(41_200), wait(-5), wait(600_000), wait(7_200_000)]).toEqual(['42 s', '0 s', '10 min', '2 h']);
});

const now = new Date(2026, 10, 20, 9, 2, 0).getTime();

test.each([
  [26_000, '26 s'],
  [-3_000, '0 s'],
  [12 * 60_000, '12 m'],
  [31 * 60_000, '08:31'],
])('%d ms ago is %s', (age, text) => expect(rowTime(now - age, now)).toBe(text));

test('older moments are a weekday, a day, a month', () => {
  expect(rowTime(new Date(2026, 10, 18, 12).getTime(), now)).toBe('Wed');
  expect(rowTime(new Date(2026, 10, 14, 8).getTime(), now)).toBe('14 Nov');
  expect(rowTime(new Date(2025, 10, 14, 8).getTime(), now)).toBe('Nov 25');
});

test('exact times keep their microseconds', () => {
  expect(exactTime('2026-11-20T09:00:52.381204Z')).toMatch(/^20 Nov 2026, \d\d:00:52\.381204$/);
  expect(preciseTime('2026-11-20T09:00:52.3Z')).toMatch(/^\d\d:00:52\.300$/);
});

test('keys have caps', () => {
  expect([capOf('r'), capOf('Escape'), capOf('Shift+x'), capOf('Mod+z'), capOf('?'), capOf('Space')]).toEqual(
    ['R', 'Esc', 'Shift X', 'Ctrl Z', '?', 'Space'],
  );
});

test('names of events and places', () => {
  const event = { type: null, method: 'POST', source: 'intake', path: '/lead' };
  expect([eventName(event), eventName({ ...event, type: 'push' })]).toEqual(['POST /intake/lead', 'push']);
  expect(eventName({ ...event, type: 'pull_request.opened', provider: 'github' })).toBe(
    'pull_request opened',
  );
  expect(eventName({ ...event, type: 'invoice.paid', provider: 'stripe' })).toBe('invoice.paid');
  expect([host('http://localhost:3000/a'), host('nowhere'), place('http://localhost:3000/a/')]).toEqual([
    'localhost:3000',
    'nowhere',
    'localhost:3000/a',
  ]);
  expect(saidVerdict('invalid', 'body re-serialised')).toBe('Invalid signature: body re-serialised');
});

test('what can’t be seen is made visible', () => {
  expect(visible('a\u202eb\u0000\n')).toBe('a⟨U+202E⟩b⟨U+0000⟩⟨U+000A⟩');
  expect(visible('Grüße, 世界 👋')).toBe('Grüße, 世界 👋');
});
