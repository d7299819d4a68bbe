/** What helps somebody else to see what is wrong, as text. Nothing in it is secret: no value, no body, no header. */

import type { Check } from '../../setup/types';

/** What is known of the running program. */
export interface Facts {
  version: string;
  /** Where it runs: a window, or a browser. */
  shown: string;
  capture: readonly string[];
  startedAt: string | null;
  counts: Readonly<Record<string, number>>;
}

/** The text that is copied. */
export function diagnosticsText(facts: Facts, checks: readonly Check[]): string {
  const counts = Object.entries(facts.counts).map(([name, count]) => `${name} ${count}`);
  const lines = [
    `hookmitt ${facts.version}`,
    `shown in: ${facts.shown}`,
    `capture: ${facts.capture.join(', ') || 'not listening'}`,
    `started: ${facts.startedAt ?? 'unknown'}`,
    `counts: ${counts.join(', ') || 'unknown'}`,
    '',
    ...checks.flatMap((check) => [
      `${check.ok ? 'ok  ' : 'FAIL'} ${check.name}: ${withoutLogins(check.message)}`,
      ...(check.hint == null ? [] : [`       ${withoutLogins(check.hint)}`]),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** The data directory, which the inbox's check names. */
export function dataDirectory(checks: readonly Check[]): string | null {
  const message = checks.find((check) => check.name === 'inbox')?.message ?? '';
  return /^(.*)[\\/]inbox\.db\b/.exec(message)?.[1] ?? null;
}

/** URLs may carry keys in their query; those that are shown to others don't. */
function withoutLogins(text: string): string {
  return text.replace(/(https?:\/\/[^\s?]+)\?\S*/g, '$1?…');
}
