import { expect, test } from 'vitest';

import { tagOffers } from './tag-offers';

const all = [
  { name: 'Billing', count: 2 },
  { name: 'rebill', count: 9 },
  { name: 'vip', count: 4 },
];
const names = (given: string[], typed: string) => tagOffers(all, given, typed).map(({ name }) => name);

test('tags that begin with what is typed come first, then those that contain it', () => {
  expect(names([], 'BILL')).toEqual(['Billing', 'rebill']);
});

test('without a text the most used come first; what the event has is not offered', () => {
  expect(names([], ' ')).toEqual(['rebill', 'vip', 'Billing']);
  expect(names(['VIP'], '')).toEqual(['rebill', 'Billing']);
});
