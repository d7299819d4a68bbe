import { tokens, type TokenKind } from './json-tokens';

/** The smallest unit of a comparison, with the white space before it. */
export interface Atom {
  kind: TokenKind;
  text: string;
  before: string;
  /** Whether a line may end after this atom. */
  breaks: boolean;
}

/** A body split into atoms. */
export interface BodyAtoms {
  atoms: Atom[];
  /** Whether the body has line breaks of its own. */
  lines: boolean;
  /** Whether the body is UTF-8; if not, each character stands for one byte. */
  isText: boolean;
}

/** The length at which a line of text without line feeds may be broken. */
const LONG = 72;

/** Splits JSON into tokens, any other body into words. */
export function bodyAtoms(bytes: Uint8Array): BodyAtoms {
  const { text, isText } = decoded(bytes);
  const isJson = /^\ufeff?\s*[{[]/.test(text);
  const atoms: Atom[] = [];
  let before = '';
  let column = 0;
  for (const { kind, text: piece } of isJson ? tokens(text) : words(text)) {
    if (kind === 'space') {
      before += piece;
      continue;
    }
    column += piece.length;
    const breaks = isJson ? '{[,'.includes(piece) : piece === '&' || (column > LONG && !text.includes('&'));
    atoms.push({ kind, text: piece, before, breaks });
    if (breaks) column = 0;
    before = '';
  }
  if (before !== '') atoms.push({ kind: 'space', text: '', before, breaks: false });
  return { atoms, lines: /\n(?=[^])/.test(text), isText };
}

function decoded(bytes: Uint8Array): { text: string; isText: boolean } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), isText: true };
  } catch {
    const characters = Array.from(bytes, (byte) => String.fromCharCode(byte));
    return { text: characters.join(''), isText: false };
  }
}

const WORD = /\s+|[\p{L}\p{N}_]+|[^]/gu;

function* words(text: string): Generator<{ kind: TokenKind; text: string }> {
  for (const [piece] of text.matchAll(WORD))
    yield { kind: /^\s/.test(piece) ? 'space' : 'other', text: piece };
}
