import { expect, test } from 'vitest';

import type { AuditEntry } from '../api/audit';
import { deedAbout } from './audit';

const entry = {
  id: 1,
  at: '2026-11-24T18:00:00Z',
  who: 'page',
  what: 'deleted',
  event_id: null,
  seq: null,
  source: 'shop',
  target: null,
  detail: { events: 1_204, label: 'a\u202eb', job: 3 },
} as AuditEntry;

test('a deed says what it was about, with strangers’ marks made visible', () => {
  expect(deedAbout(entry)).toBe('shop, job 3, 1,204 events, label a⟨U+202E⟩b');
});
