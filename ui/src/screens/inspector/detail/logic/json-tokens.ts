/** The kind of a token of JSON text. `other` is text that is not valid JSON. */
export type TokenKind = 'key' | 'string' | 'number' | 'word' | 'mark' | 'space' | 'other';

/** A token of JSON text, exactly as it is written. */
export interface Token {
  kind: TokenKind;
  text: string;
}

const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[a-zA-Z]+/y;
const MARKS = '{}[],:';

/**
 * Splits JSON text into tokens, in one pass and without recursion, so that no input can exhaust the stack. The joined
 * tokens are the text again. Text that is cut off in the middle is fine.
 */
export function* tokens(text: string): Generator<Token> {
  let at = 0;
  while (at < text.length) {
    const [kind, end] = next(text, at);
    yield { kind, text: text.slice(at, end) };
    at = end;
  }
}

function next(text: string, at: number): [TokenKind, number] {
  const first = text.charAt(at);
  if (first === '"') {
    const end = endOfString(text, at);
    return [text.charAt(matchEnd(SPACE, text, end)) === ':' ? 'key' : 'string', end];
  }
  if (MARKS.includes(first)) return ['mark', at + 1];
  for (const [kind, pattern] of [
    ['space', SPACE],
    ['number', NUMBER],
    ['word', WORD],
  ] as const) {
    const end = matchEnd(pattern, text, at);
    if (end > at) return [kind, end];
  }
  return ['other', at + 1];
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function endOfString(text: string, at: number): number {
  for (let end = at + 1; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === 0x5c) end++;
    else if (code === 0x22) return end + 1;
  }
  return text.length;
}
