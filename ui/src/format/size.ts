import { count } from './count';

const units = ['kB', 'MB', 'GB', 'TB'];

/** Formats a number of bytes for a column: `412 B`, `3.4 kB`, `18 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${scaled(value)} ${units[unit]}`;
}

function scaled(value: number): string {
  if (value >= 99.95) return value.toFixed(0);
  const text = value.toFixed(1);
  return value >= 10 && text.endsWith('.0') ? text.slice(0, -2) : text;
}

/** Formats a number of bytes for the detail pane: exact below 10 kB, such as `3,412 B`. */
export function exactSize(bytes: number): string {
  return bytes < 10_000 ? `${count(bytes)} B` : size(bytes);
}
