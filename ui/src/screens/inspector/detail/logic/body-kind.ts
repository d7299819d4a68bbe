/** What a body contains, which decides how it is shown at first. */
export type BodyKind = 'empty' | 'json' | 'form' | 'text' | 'binary';

/** The loaded bytes of a body as text. */
export interface BodyText {
  kind: BodyKind;
  /** The text, with U+FFFD in place of bytes that are not UTF-8. */
  text: string;
  /** Whether some bytes are not UTF-8. */
  broken: boolean;
}

/**
 * Decodes the loaded bytes of a body. If `whole` is false, more bytes follow and a character cut off at the end is no
 * error. HTML, XML and SVG count as plain text.
 */
export function readBody(bytes: Uint8Array, contentType: string | null, whole: boolean): BodyText {
  if (bytes.length === 0) return { kind: 'empty', text: '', broken: false };
  const { text, broken } = decode(bytes, whole);
  return { kind: kindOf(bytes, text, broken, contentType ?? ''), text, broken };
}

function decode(bytes: Uint8Array, whole: boolean): { text: string; broken: boolean } {
  const options = { ignoreBOM: true } as const; // a BOM is kept and shown
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

/** A body with a NUL is binary; so is one that is not UTF-8 and has many control bytes or bytes from 0x80 on. */
function isBinary(bytes: Uint8Array, broken: boolean): boolean {
  const sample = bytes.subarray(0, 8192);
  if (sample.includes(0)) return true;
  const controls = sample.filter((byte) => byte < 0x09 || (byte > 0x0d && byte < 0x20) || byte === 0x7f);
  const high = sample.filter((byte) => byte >= 0x80);
  return broken && controls.length * 10 + high.length * 3 > sample.length;
}

/** Returns the decoded fields of a form, in order. */
export function formFields(text: string): [name: string, value: string][] {
  return [...new URLSearchParams(text)];
}
