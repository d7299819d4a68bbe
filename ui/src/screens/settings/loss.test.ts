import { expect, test } from 'vitest';
import { lossOf } from './loss';

test('what goes and what stays is counted', () => {
  expect(lossOf(2, 1, 214)).toBe(
    'Its 2 secrets and 1 target go with it and can’t be restored. What waits for a target fails. Its 214 events stay in the inbox.',
  );
  expect(lossOf(1, 0, 1)).toBe(
    'Its secret goes with it and can’t be restored. Its event stays in the inbox.',
  );
  expect(lossOf(0, 0, 0)).toBe(
    'It has no secrets and no targets. A request to its address creates a new one.',
  );
});
