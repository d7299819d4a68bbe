/** How long events are kept, as a form. */

import type { KeepChange, Retention } from '../../api/retention';

/** What retention tells apart, with what stands beside its field. */
export const KEPT = [
  { name: 'captured', label: 'Captured', hint: 'Events without a target.' },
  { name: 'completed', label: 'Completed', hint: 'Every delivery was completed or skipped.' },
  { name: 'skipped', label: 'Skipped', hint: 'Not sent on purpose.' },
  { name: 'failed', label: 'Failed', hint: 'A retry could not help.' },
  { name: 'dead_letter', label: 'Dead letters', hint: 'All attempts are used up.' },
  { name: 'trash', label: 'Trash', hint: 'Counted from when an event was deleted.' },
] as const;

/** The settings as the fields hold them. */
export interface RetentionFields {
  keep: Record<string, string>;
  /** In gigabytes; empty: no limit. */
  size_gb: string;
  when_full: 'warn' | 'prune';
}

const GB = 1_000_000_000;

/** Returns the form's fields for what holds now. */
export function fieldsOf(retention: Retention): RetentionFields {
  const { keep, size_limit, when_full } = retention;
  return { keep: { ...keep }, size_gb: size_limit == null ? '' : String(size_limit / GB), when_full };
}

/** Returns what is wrong, by the name of its field. */
export function problemsOf(fields: RetentionFields): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const { name } of KEPT)
    if (!/^(never|\d+[smhd])$/.test(fields.keep[name]?.trim() ?? ''))
      problems[name] = 'Write it like 12h, 7d or never.';
  const size = fields.size_gb.trim();
  if (size !== '' && !(Number(size) >= 0.001))
    problems['size_gb'] = 'A number of gigabytes, or empty for no limit.';
  return problems;
}

/** Returns what the user has changed. */
export function changeOf(fields: RetentionFields, before: Retention): KeepChange {
  const was = fieldsOf(before);
  const change: KeepChange = {};
  const keep = Object.entries(fields.keep).filter(([name, value]) => value.trim() !== was.keep[name]);
  if (keep.length > 0) change.keep = Object.fromEntries(keep.map(([name, value]) => [name, value.trim()]));
  const size = fields.size_gb.trim();
  if (size !== was.size_gb) change.size_limit = size === '' ? null : Math.round(Number(size) * GB);
  if (fields.when_full !== was.when_full) change.when_full = fields.when_full;
  return change;
}
