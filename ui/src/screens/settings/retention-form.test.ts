import { expect, test } from 'vitest';

import type { Retention } from '../../api/retention';
import { changeOf, fieldsOf, KEPT, problemsOf } from './retention-form';

const before = {
  keep: Object.fromEntries(KEPT.map(({ name }) => [name, '7d'])),
  sources: {},
  size_limit: 10_000_000_000,
  when_full: 'warn',
} as Retention;

test('only what was changed is sent', () => {
  const fields = fieldsOf(before);
  expect(changeOf(fields, before)).toEqual({});
  fields.keep['failed'] = ' never ';
  fields.size_gb = '';
  fields.when_full = 'prune';
  expect(changeOf(fields, before)).toEqual({
    keep: { failed: 'never' },
    size_limit: null,
    when_full: 'prune',
  });
  fields.size_gb = '2.5';
  expect(changeOf(fields, before).size_limit).toBe(2_500_000_000);
});

test('what is no time and no size is named', () => {
  const fields = fieldsOf(before);
  expect(problemsOf(fields)).toEqual({});
  fields.keep['trash'] = 'soon';
  fields.size_gb = '-1';
  expect(Object.keys(problemsOf(fields))).toEqual(['trash', 'size_gb']);
});
