/** How long events are kept, as a form. */

import type { KeepChange, Retention } from '../../api/retention';

/** What retention tells apart, with what stands beside its field. */
export const KEPT = [
  { name: 'captured', label: 'Captured', hint: 'Events without a target.' },
  { name: 'completed', label: 'Completed', hint: 'Every delivery was completed or skipped.' },
  { name: 'skipped', label: 'Skipped', hint: 'Deliberately not sent.' },
  { name: 'failed', label: 'Failed', hint: 'A retry could not help.' },
  { name: 'dead_letter', label: 'Dead letters', hint: 'All attempts are used up.' },
  { name: 'trash', label: 'Trash', hint: 'Counted from when an event was deleted.' },
] as const;

/** What a source can keep for another time than all sources do. */
export const KEPT_BY_SOURCE = KEPT.filter(({ name }) => name !== 'trash');

/** Times by what they are for, as they are typed. */
export type Times = Record<string, string>;

/** The settings as the fields hold them. */
export interface RetentionFields {
  keep: Times;
  /** What holds for some sources instead; what is empty or absent is as for all. */
  sources: Record<string, Times>;
  /** In gigabytes; empty: no limit. */
  size_gb: string;
  when_full: 'warn' | 'prune';
}

const GB = 1_000_000_000;
const WRONG_TIME = 'Write it like 12h, 7d or never.';

const isTime = (text: string) => /^(never|\d+[smhd])$/.test(text.trim());

/** Returns the form's fields for what holds now. */
export function fieldsOf(retention: Retention): RetentionFields {
  const { keep, sources, size_limit, when_full } = retention;
  return {
    keep: { ...keep },
    sources: Object.fromEntries(Object.entries(sources).map(([source, times]) => [source, { ...times }])),
    size_gb: size_limit == null ? '' : String(size_limit / GB),
    when_full,
  };
}

/** Returns the name of the field for a source. */
export const fieldOf = (source: string, name: string): string => `${source}/${name}`;

/** Returns what is wrong, by the name of its field. */
export function problemsOf(fields: RetentionFields): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const { name } of KEPT) if (!isTime(fields.keep[name] ?? '')) problems[name] = WRONG_TIME;
  for (const [source, times] of Object.entries(fields.sources))
    for (const [name, text] of Object.entries(times))
      if (text.trim() !== '' && !isTime(text)) problems[fieldOf(source, name)] = WRONG_TIME;
  const size = fields.size_gb.trim();
  if (size !== '' && !(Number(size) >= 0.001))
    problems['size_gb'] = 'A number of gigabytes, or empty for no limit.';
  return problems;
}

/** Returns the times that differ; null where a time was taken back. */
function changedTimes(now: Times, before: Times): Record<string, string | null> {
  const names = Object.keys({ ...before, ...now });
  const changed = names
    .map((name): [string, string | null] => [name, now[name]?.trim() || null])
    .filter(([name, text]) => text !== (before[name] ?? null));
  return Object.fromEntries(changed);
}

/** Returns what the user has changed. */
export function changeOf(fields: RetentionFields, before: Retention): KeepChange {
  const was = fieldsOf(before);
  const change: KeepChange = {};
  const keep = changedTimes(fields.keep, was.keep);
  if (Object.keys(keep).length > 0) change.keep = keep;
  const sources = Object.keys({ ...was.sources, ...fields.sources })
    .map((source) => [source, changedTimes(fields.sources[source] ?? {}, was.sources[source] ?? {})] as const)
    .filter(([, times]) => Object.keys(times).length > 0);
  if (sources.length > 0) change.sources = Object.fromEntries(sources);
  const size = fields.size_gb.trim();
  if (size !== was.size_gb) change.size_limit = size === '' ? null : Math.round(Number(size) * GB);
  if (fields.when_full !== was.when_full) change.when_full = fields.when_full;
  return change;
}

/** Counts the values that a change changes. */
export function sizeOf({ keep = {}, sources = {}, ...others }: KeepChange): number {
  const times = [keep, ...Object.values(sources)].map((some) => Object.keys(some).length);
  return times.reduce((sum, many) => sum + many, Object.keys(others).length);
}
