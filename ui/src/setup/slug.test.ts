import { expect, test } from 'vitest';
import { freeSlug, slugFor, slugProblem, slugTyped } from './slug';

test('a name goes by the rule of the capture port', () => {
  for (const good of ['a', '0', 'stripe', 'stripe-test', 'a_b', 'a'.repeat(63)])
    expect(slugProblem(good)).toBeNull();
  for (const bad of ['', '-a', '_a', 'A', 'a b', 'ä', 'a/b', 'a.b', 'a'.repeat(64)])
    expect(slugProblem(bad)).not.toBeNull();
});

test('what is typed comes near to a name without being refused', () => {
  expect(slugTyped('Stripe Test')).toBe('stripe-test');
  expect(slugTyped('shop.example/hooks')).toBe('shop-example-hooks');
  expect(slugFor('gitea')).toBe('gitea');
});

test('a free name is the wanted one, or the next of its kind', () => {
  expect(freeSlug('stripe', [])).toBe('stripe');
  expect(freeSlug('stripe', ['stripe', 'stripe-2'])).toBe('stripe-3');
});
