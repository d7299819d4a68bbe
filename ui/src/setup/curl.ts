/** Command lines to copy. What goes into them may hold anything, so each word is quoted for a POSIX shell. */

/** One word of a command line. */
export interface Word {
  text: string;
  /** What it is, for its colour. */
  kind: 'plain' | 'string';
}

/** The body that the line on the first screen sends. */
const HELLO = '{"hello":"hookmitt"}';

/** A word as a POSIX shell reads it back unchanged. */
export function quoted(word: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The words of a line that posts something to a source. */
export function curlWords(url: string, body: string = HELLO): Word[] {
  return [
    { text: 'curl', kind: 'plain' },
    { text: quoted(url), kind: 'plain' },
    { text: '-d', kind: 'plain' },
    { text: quoted(body), kind: 'string' },
  ];
}

/** The same line to be copied. */
export function curlLine(url: string, body: string = HELLO): string {
  return curlWords(url, body)
    .map((word) => word.text)
    .join(' ');
}
