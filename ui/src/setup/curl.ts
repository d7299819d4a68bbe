/** Command lines to copy. Their words may contain anything, so each is quoted for a POSIX shell. */

/** A word of a command line. */
export interface Word {
  text: string;
  /** The kind of the word, for its colour. */
  kind: 'plain' | 'string';
}

/** The body in the command on the first screen. */
const HELLO = '{"hello":"hookmitt"}';

/** Quotes a word so that a POSIX shell reads it back unchanged. */
export function quoted(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Returns the words of a curl command that posts a body to a source. */
export function curlWords(url: string, body: string = HELLO): Word[] {
  return [
    { text: 'curl', kind: 'plain' },
    { text: quoted(url), kind: 'plain' },
    { text: '-d', kind: 'plain' },
    { text: quoted(body), kind: 'string' },
  ];
}

/** Returns the same command as one line. */
export function curlLine(url: string, body: string = HELLO): string {
  return curlWords(url, body)
    .map((word) => word.text)
    .join(' ');
}
