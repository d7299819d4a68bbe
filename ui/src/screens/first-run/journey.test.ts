import { expect, test } from 'vitest';
import { moveFor, renamed } from './journey';

const start = { slug: 'demo', typed: false, fresh: null };

test('the first choice makes a source called like its provider', () => {
  expect(moveFor(start, 'stripe', 'stripe', [])).toEqual({ slug: 'stripe', todo: 'add', remove: null });
});

test('another choice takes the place of one that holds nothing', () => {
  const now = { slug: 'stripe', typed: false, fresh: 'stripe' };
  const sources = [{ slug: 'stripe', provider: 'stripe' }];
  expect(moveFor(now, 'github', 'github', sources)).toEqual({
    slug: 'github',
    todo: 'add',
    remove: 'stripe',
  });
  expect(moveFor(now, 'stripe', 'stripe', sources)).toEqual({
    slug: 'stripe',
    todo: 'nothing',
    remove: null,
  });
});

test('a source that came by itself gets the provider, another provider’s is left alone', () => {
  const auto = [{ slug: 'stripe', provider: null }];
  expect(moveFor(start, 'stripe', 'stripe', auto)).toMatchObject({ slug: 'stripe', todo: 'change' });
  const other = [{ slug: 'stripe', provider: 'github' }];
  expect(moveFor(start, 'stripe', 'stripe', other)).toMatchObject({ slug: 'stripe-2', todo: 'add' });
});

test('a typed name stays', () => {
  const now = { slug: 'shop', typed: true, fresh: 'shop' };
  const sources = [{ slug: 'shop', provider: 'stripe' }];
  expect(moveFor(now, 'shopify', 'shopify', sources)).toEqual({ slug: 'shop', todo: 'change', remove: null });
});

test('a fresh source moves with its name, any other stays', () => {
  expect(renamed({ slug: 'stripe', typed: false, fresh: 'stripe' }, 'pay', [])).toEqual({
    slug: 'pay',
    todo: 'add',
    remove: 'stripe',
  });
  expect(renamed({ slug: 'stripe', typed: false, fresh: null }, 'pay', [])).toEqual({
    slug: 'pay',
    todo: 'nothing',
    remove: null,
  });
  expect(renamed(start, 'demo', [])).toEqual({ slug: 'demo', todo: 'nothing', remove: null });
});
