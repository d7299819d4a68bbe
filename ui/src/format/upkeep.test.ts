import { expect, it } from 'vitest';

import { indexing } from './upkeep';

it('says how far the search index is unless only what just came is missing', () => {
  const told = (indexed: number | null, last: number) => indexing({ indexed, last, uncompressed: 0 });
  expect(told(12_340, 1_000_000)).toBe('Indexing: 12,340 of 1,000,000');
  expect(told(null, 5_000)).toBe('Indexing: 0 of 5,000');
  expect(told(999_500, 1_000_000)).toBeNull();
  expect(told(null, 0)).toBeNull();
  expect(indexing(undefined)).toBeNull();
});
