import type { Event } from '../../../../api/shapes';

/** A header line: name, and value as text or as base64 where it is no UTF-8. */
export type HeaderLine = Event['headers'][number];

/** A line as it is copied. */
export function headerText([name, value]: HeaderLine): string {
  return `${name}: ${typeof value === 'string' ? value : `base64 ${value.base64}`}`;
}

/** The lines whose name or value holds the text, in any case. */
export function filterHeaders(lines: HeaderLine[], text: string): HeaderLine[] {
  const wanted = text.trim().toLowerCase();
  return wanted ? lines.filter((line) => headerText(line).toLowerCase().includes(wanted)) : lines;
}

/** The value of the first line of that name. */
export function headerValue(lines: HeaderLine[], name: string): string | null {
  const found = lines.find(([one, value]) => one.toLowerCase() === name && typeof value === 'string');
  return typeof found?.[1] === 'string' ? found[1] : null;
}
