/** Facts and checks as text that helps somebody else find a problem. It has no secrets: no value, body or header. */

import type { Check } from '../../setup/types';

/** Facts about the running program. */
export interface Facts {
  version: string;
  /** Where the page runs: in the window or in a browser. */
  shown: string;
  capture: readonly string[];
  startedAt: string | null;
  counts: Readonly<Record<string, number>>;
}

/** Returns the text that is copied. */
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

/** Returns the data directory, which the check `inbox` names. */
export function dataDirectory(checks: readonly Check[]): string | null {
  const message = checks.find((check) => check.name === 'inbox')?.message ?? '';
  return /^(.*)[\\/]inbox\.db\b/.exec(message)?.[1] ?? null;
}

/** Removes the queries of URLs, because a query may contain keys. */
function withoutLogins(text: string): string {
  return text.replace(/(https?:\/\/[^\s?]+)\?\S*/g, '$1?…');
}
