import type { ByteRow } from './byte-lines';

/** The range of rows of a comparison that is shown. */
export interface Window {
  from: number;
  to: number;
}

const FIRST = 8;
const BEFORE = 2;

/** Returns the initial window: a few rows, starting just before the first change. */
export function firstWindow(rows: readonly ByteRow[]): Window {
  const change = Math.max(0, nextChange(rows, -1) ?? 0);
  const from = Math.max(0, Math.min(change - BEFORE, rows.length - FIRST));
  return { from, to: Math.min(rows.length, from + FIRST) };
}

/** Returns the next changed row after a row; null if there is none. */
export function nextChange(rows: readonly ByteRow[], after: number): number | null {
  const at = rows.findIndex((row, n) => n > after && row.changed);
  return at < 0 ? null : at;
}

/** Widens a window so that it contains a row and some rows around it. */
export function widened({ from, to }: Window, row: number, length: number): Window {
  return { from: Math.min(from, Math.max(0, row - BEFORE)), to: Math.max(to, Math.min(length, row + FIRST)) };
}

/** Says what is hidden: “46 more lines, 38 of them with the same change”; null if all rows are shown. */
export function hiddenWords(rows: readonly ByteRow[], { from, to }: Window): string | null {
  const hidden = [...rows.slice(0, from), ...rows.slice(to)];
  if (hidden.length === 0) return null;
  const count = hidden.filter(({ changed }) => changed).length;
  const lines = hidden.length === 1 ? '1 more line' : `${hidden.length.toLocaleString('en')} more lines`;
  const alike = isSpace(rows) ? 'the same change' : 'a change';
  if (count === 0) return `${lines}, nothing changed in ${hidden.length === 1 ? 'it' : 'them'}`;
  if (hidden.length === 1) return `${lines}, with ${alike}`;
  const many = count === hidden.length ? 'all' : count.toLocaleString('en');
  return `${lines}, ${many} of them with ${alike}`;
}

/** Whether only white space differs. */
function isSpace(rows: readonly ByteRow[]): boolean {
  const lines = rows.flatMap(({ first, other }) => [first, other]);
  return lines.every(
    (line) => line?.pieces.every(({ kind, changed }) => !changed || kind === 'space') ?? true,
  );
}
