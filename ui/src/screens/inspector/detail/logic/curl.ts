import type { components } from '../../../../api/schema.gen';

type Header = components['schemas']['EventJson']['headers'][number];

/** The parts of an event that a curl command needs. */
export interface CurlRequest {
  id: string;
  method: string;
  url: string;
  headers: Header[];
}

/** Larger bodies go into a file beside the command, because Linux limits an argument to 128 kB. */
export const LARGEST_INLINE = 64 * 1024;

/** Header lines that curl writes itself. */
const OWN = [
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
];

/** Header lines that curl adds unless it is told not to. */
const ADDED = ['Accept', 'User-Agent', 'Content-Type'];

/**
 * Returns the event as a curl command for bash or zsh. Everything that a stranger sent is quoted, and control
 * characters are written as escapes, so that nothing of it takes effect in a terminal.
 * `body` is null if the body is too large; the command then reads it from the file that "Save body" writes.
 */
export function curlCommand(request: CurlRequest, body: Uint8Array | null): string {
  const lines = [`curl --path-as-is --globoff -X ${quoted(request.method)} ${quoted(request.url)}`];
  const names = new Set(request.headers.map(([name]) => name.toLowerCase()));
  for (const [name, value] of request.headers) {
    if (!OWN.includes(name.toLowerCase())) lines.push(`-H ${header(name, bytesOf(value))}`);
  }
  const silenced = ADDED.filter((name) => !names.has(name.toLowerCase()));
  lines.push(...silenced.map((name) => `-H '${name}:'`));
  if (body === null) lines.push(`--data-binary @${bodyFile(request.id)}`);
  else if (body.includes(0))
    return `printf %s '${base64(body)}' | base64 -d | ${joined([...lines, '--data-binary @-'])}`;
  else if (body.length > 0) lines.push(`--data-raw ${quoted(body)}`);
  return joined(lines);
}

/** Returns the name of the file that holds an event's body. */
export function bodyFile(id: string): string {
  return `hookmitt-${id}.bin`;
}

function joined(lines: string[]): string {
  return lines.join(' \\\n  ');
}

function header(name: string, value: Uint8Array): string {
  if (value.length === 0) return quoted(`${name};`); // curl drops `Name:`, so an empty value needs `;`
  return quoted(concat(new TextEncoder().encode(`${name}: `), value));
}

/** Returns the bytes of a header value. */
export function bytesOf(value: Header[1]): Uint8Array {
  if (typeof value === 'string') return new TextEncoder().encode(value);
  return Uint8Array.from(atob(value.base64), (character) => character.charCodeAt(0));
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** Quotes a word for the shell. Printable ASCII and line feeds need only quotes, everything else needs `$'…'`. */
function quoted(value: string | Uint8Array): string {
  const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
  const printable = bytes.every((byte) => byte === 0x0a || (byte >= 0x20 && byte < 0x7f));
  if (printable) return `'${new TextDecoder().decode(bytes).replaceAll("'", "'\\''")}'`;
  return `$'${safeText(bytes) ?? escaped(bytes)}'`;
}

/** Keeps the letters of any script, and escapes characters that are invisible or change the direction of the text. */
function safeText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text
      .replace(/\\/g, '\\\\')
      .replace(/'/g, "\\'")
      .replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} \n]/gu, escapedText);
  } catch {
    return null;
  }
}

function escapedText(character: string): string {
  return escaped(new TextEncoder().encode(character));
}

function escaped(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => {
    if (byte === 0x27 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
    return byte >= 0x20 && byte < 0x7f
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`;
  }).join('');
}
