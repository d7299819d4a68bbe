import fc from 'fast-check';
import { expect, test } from 'vitest';

import { contradictions } from './contradictions';
import { scenes } from './drawn';

test('whatever hookmitt tells, sentence, strip, stations, chart, table and deliveries agree', () => {
  fc.assert(
    fc.property(scenes, (scene) => {
      expect(contradictions(scene)).toEqual([]);
    }),
    { numRuns: 1_000 },
  );
}, 60_000);
