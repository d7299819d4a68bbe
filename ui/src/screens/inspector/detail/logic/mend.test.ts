import { expect, it } from 'vitest';
import { mendOf } from './mend';

it('offers what mends the cause, and the code only where nothing here does', () => {
  const label = (cause: string, hasFix = false) => mendOf('invalid', cause, hasFix)?.label;
  expect(label('no_match', true)).toBe('Add a secret');
  expect(label('other_provider')).toBe('Choose the provider');
  expect(label('timestamp_old')).toBe('Allow a longer tolerance');
  expect(label('body_reserialized', true)).toBe('Show the fix');
  expect(label('body_reserialized')).toBeUndefined();
});

it('offers nothing for what is valid or signed by nobody', () => {
  expect(mendOf('valid', undefined, false)).toBeNull();
  expect(mendOf('unsigned', 'unsigned', false)).toBeNull();
  expect(mendOf('no_secret', undefined, false)?.label).toBe('Add a secret');
});
