import { expect, test } from 'vitest';
import { found, nameOf, offered } from './providers';

const all = ['Stripe', 'GitHub', 'Shopify', 'Clerk', 'Slack', 'Twilio', 'GitLab', 'Standard Webhooks'].map(
  (name) => ({
    id: name.toLowerCase().replaceAll(' ', ''),
    name,
  }),
);
const ids = (list: { id: string }[]) => list.map((provider) => provider.id);

test('the most used are offered, and the chosen one always is', () => {
  expect(ids(offered(all, null, 3))).toEqual(['stripe', 'github', 'shopify']);
  expect(ids(offered(all, 'github', 3))).toEqual(['stripe', 'github', 'shopify']);
  expect(ids(offered(all, 'gitlab', 3))).toEqual(['stripe', 'github', 'gitlab']);
});

test('a search finds by name and id, the start of a name first', () => {
  expect(ids(found(all, 'git'))).toEqual(['github', 'gitlab']);
  expect(ids(found(all, 's'))[0]).toBe('stripe');
  expect(ids(found(all, 'web stand'))).toEqual(['standardwebhooks']);
  expect(found(all, 'nobody')).toEqual([]);
  expect(nameOf(all, 'acme')).toBe('acme');
});
