import { expect, test } from 'vitest';

import type { Retention } from '../../api/retention';
import { changeOf, fieldsOf, KEPT, problemsOf, sizeOf } from './retention-form';

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

test('a source keeps its own times until they are taken back', () => {
  const own = { ...before, sources: { shop: { failed: '90d', completed: '1d' } } } as Retention;
  const fields = fieldsOf(own);
  expect(changeOf(fields, own)).toEqual({});
  fields.sources['shop']!['completed'] = ' ';
  fields.sources['chat'] = { captured: '12h' };
  fields.sources['mail'] = {};
  expect(changeOf(fields, own)).toEqual({
    sources: { shop: { completed: null }, chat: { captured: '12h' } },
  });
  expect(sizeOf(changeOf(fields, own))).toBe(2);
  delete fields.sources['shop'];
  expect(changeOf(fields, own).sources?.['shop']).toEqual({ failed: null, completed: null });
  fields.sources['chat']['captured'] = 'soon';
  expect(Object.keys(problemsOf(fields))).toEqual(['chat/captured']);
  expect(fieldsOf(own).sources['shop']).toEqual({ failed: '90d', completed: '1d' });
});
