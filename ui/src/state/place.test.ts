import { expect, test } from 'vitest';

import { format, parse } from './place';

test.each([
  '#/start',
  '#/settings/sources',
  '#/tunnels',
  '#/tunnels/add',
  '#/tunnels/3?gap=12',
  '#/sync',
  '#/sync/stripe-test',
  '#/sync/stripe-test/settings',
  '#/sync/stripe-test?days=30&part=only_there&day=2026-11-25',
  '#/sync/stripe-test?part=both',
  '#/events',
  '#/events/01a1',
  '#/events/01a1/body',
  '#/events?view=invalid',
  '#/events/01a1?source=stripe-test',
  '#/events/01a1?view=invalid&q=type%3A%22a+b%22+-x+%23%2612%25+%C3%A4',
])('%s comes back as it was', (hash) => expect(format(parse(hash))).toBe(hash));

test('nothing, and what is unknown, is the list of events', () => {
  const list = { screen: 'events', id: null, tab: null, view: null, source: null, q: null };
  expect([parse(''), parse('#/'), parse('#/nothing')]).toEqual([list, list, list]);
  expect(parse('#/events/%E0%A4%A')).toMatchObject({ id: '%E0%A4%A' });
});
