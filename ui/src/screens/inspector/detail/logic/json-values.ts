import { tokens } from './json-tokens';

interface Place {
  pointer: string;
  /** The next index in an array; null in an object. */
  index: number | null;
  key: string;
  empty: boolean;
}

/**
 * Returns the values of a JSON text by JSON pointer (RFC 6901), exactly as they are written, because a number may have
 * too many digits for a double. Of repeated keys the last one counts, as in most parsers. Null if the text is not JSON.
 */
export function jsonValues(text: string): Map<string, string> | null {
  const values = new Map<string, string>();
  const places: Place[] = [];
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  for (const token of tokens(text)) {
    const place = places.at(-1);
    if (token.kind === 'space' || token.text === ':') continue;
    if (token.kind === 'key') {
      if (place) place.key = unquoted(token.text);
    } else if (token.text === ',') {
      if (place && place.index !== null) place.index++;
    } else if (token.text === '{' || token.text === '[') {
      const pointer = pointerOf(place);
      places.push({ pointer, index: token.text === '[' ? 0 : null, key: '', empty: true });
    } else if (token.text === '}' || token.text === ']') {
      places.pop();
      if (place?.empty) values.set(place.pointer, place.index === null ? '{}' : '[]');
    } else {
      values.set(pointerOf(place), token.text);
    }
  }
  return values;
}

function pointerOf(place: Place | undefined): string {
  if (!place) return '';
  place.empty = false;
  const step = place.index === null ? place.key : String(place.index);
  return `${place.pointer}/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function unquoted(text: string): string {
  const value: unknown = JSON.parse(text);
  return typeof value === 'string' ? value : text;
}

/** Whether two values are equal, even if they are written differently. */
export function sameValue(one: string, other: string): boolean {
  if (one === other) return true;
  if (one.startsWith('"') && other.startsWith('"')) return unquoted(one) === unquoted(other);
  const numbers = /^-?\d/.test(one) && /^-?\d/.test(other);
  return numbers && Math.max(one.length, other.length) <= 15 && Number(one) === Number(other);
}
