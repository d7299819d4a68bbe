import type { Event } from '../../../../api/shapes';

/** A header line: its name, and its value as text or, if it is not UTF-8, as base64. */
export type HeaderLine = Event['headers'][number];

/** Returns a header line as it is copied. */
export function headerText([name, value]: HeaderLine): string {
  return `${name}: ${typeof value === 'string' ? value : `base64 ${value.base64}`}`;
}

/** Returns the lines whose name or value contains the text, ignoring case. */
export function filterHeaders(lines: HeaderLine[], text: string): HeaderLine[] {
  const wanted = text.trim().toLowerCase();
  return wanted ? lines.filter((line) => headerText(line).toLowerCase().includes(wanted)) : lines;
}

/** Returns the value of the first line with this lower-case name whose value is text. */
export function headerValue(lines: HeaderLine[], name: string): string | null {
  const found = lines.find(([one, value]) => one.toLowerCase() === name && typeof value === 'string');
  return typeof found?.[1] === 'string' ? found[1] : null;
}
