/** How a body is shown at first. */
export type BodyKind = 'empty' | 'json' | 'form' | 'text' | 'binary';

/** What the first bytes of a body are. */
export interface BodyText {
  kind: BodyKind;
  /** The text, with U+FFFD for what is no UTF-8. */
  text: string;
  /** Whether bytes were no UTF-8. */
  broken: boolean;
}

/**
 * Reads the loaded bytes of a body. `whole` is false where more follow: then a character that is cut off at the end
 * is no error. HTML, XML and SVG are text like any other.
 */
export function readBody(bytes: Uint8Array, contentType: string | null, whole: boolean): BodyText {
  if (bytes.length === 0) return { kind: 'empty', text: '', broken: false };
  const { text, broken } = decode(bytes, whole);
  return { kind: kindOf(bytes, text, broken, contentType ?? ''), text, broken };
}

function decode(bytes: Uint8Array, whole: boolean): { text: string; broken: boolean } {
  const options = { ignoreBOM: true } as const; // a BOM is shown, not swallowed
  try {
    const text = new TextDecoder('utf-8', { ...options, fatal: true }).decode(bytes, { stream: !whole });
    return { text, broken: false };
  } catch {
    return { text: new TextDecoder('utf-8', options).decode(bytes), broken: true };
  }
}

function kindOf(bytes: Uint8Array, text: string, broken: boolean, contentType: string): BodyKind {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  if (isBinary(bytes, broken)) return 'binary';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  if (type === 'application/json' || type.endsWith('+json')) return 'json';
  return /^\s*[{[]/.test(text) && !type.includes('html') && !type.includes('xml') ? 'json' : 'text';
}

/** A NUL is in no text; of bytes that are no UTF-8, a tenth of controls gives binary away. */
function isBinary(bytes: Uint8Array, broken: boolean): boolean {
  const sample = bytes.subarray(0, 8192);
  if (sample.includes(0)) return true;
  const controls = sample.filter((byte) => byte < 0x09 || (byte > 0x0d && byte < 0x20) || byte === 0x7f);
  const high = sample.filter((byte) => byte >= 0x80);
  return broken && controls.length * 10 + high.length * 3 > sample.length;
}

/** The fields of a form, decoded, in order. */
export function formFields(text: string): [name: string, value: string][] {
  return [...new URLSearchParams(text)];
}
