import type { EventStatus, Verdict } from '../api/shapes';
import type { Filter } from '../state/filter';
import { moment } from './moment';

/** A part of the search: `verdict:invalid`, or free text. */
export interface Token {
  name: TokenName | null;
  value: string;
  /** The range of the value in the text. */
  start: number;
  end: number;
}

/** An error in the search, and the columns of the text that it is about. */
export interface Fault {
  start: number;
  end: number;
  message: string;
}

const verdicts: readonly Verdict[] = ['valid', 'invalid', 'unsigned', 'no_secret', 'unsupported', 'pending'];
const statuses: readonly EventStatus[] = [
  'captured',
  'pending',
  'processing',
  'completed',
  'failed',
  'dead_letter',
  'skipped',
];

export const names = ['source', 'type', 'verdict', 'status', 'after', 'before'] as const;
export type TokenName = (typeof names)[number];

// A name, a colon and a value, or a free word; quotes enclose a value or word with spaces.
const piece = /(?:([a-z_-]+):(?!\/\/))?("(?:[^"\\]|\\.)*"?|\S*)/giy;

/** Splits a text into tokens. */
export function parse(text: string): { tokens: Token[]; fault: Fault | null } {
  const tokens: Token[] = [];
  let fault: Fault | null = null;
  for (const [start, end] of pieces(text)) {
    const token = tokenAt(text, start, end);
    fault ??= faultOf(token, text, start);
    tokens.push(token);
  }
  return { tokens: joined(tokens), fault };
}

function* pieces(text: string): Generator<[start: number, end: number]> {
  piece.lastIndex = 0;
  while (piece.lastIndex < text.length) {
    const start = piece.lastIndex;
    const end = start + (piece.exec(text)?.[0].length ?? 0);
    if (end > start) yield [start, end];
    piece.lastIndex = Math.max(end, start + 1);
  }
}

function tokenAt(text: string, start: number, end: number): Token {
  const whole = text.slice(start, end);
  const name = /^([a-z_-]+):(?!\/\/)/i.exec(whole)?.[1];
  if (name === undefined) return { name: null, value: unquoted(whole), start, end };
  const value = unquoted(whole.slice(name.length + 1));
  return { name: name.toLowerCase() as TokenName, value, start: start + name.length + 1, end };
}

function unquoted(text: string): string {
  return text.startsWith('"') ? text.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : text;
}

/** Joins all free words into one token, which is searched for as a phrase. */
function joined(tokens: Token[]): Token[] {
  const free = tokens.filter((token) => token.name === null && token.value !== '');
  const [first, last] = [free[0], free.at(-1)];
  if (!first || !last) return tokens.filter((token) => token.name !== null);
  const value = free.map((token) => token.value).join(' ');
  return [...tokens.filter((token) => token.name !== null), { ...first, value, end: last.end }];
}

function faultOf(token: Token, text: string, start: number): Fault | null {
  const { name, value } = token;
  if (name === null) return null;
  const at = { start: token.start, end: Math.max(token.end, token.start + 1) };
  const said = (message: string) => ({ ...at, message });
  if (!names.includes(name)) {
    const asked = text.slice(start, token.start);
    return {
      start,
      end: token.start,
      message: `There is no filter “${asked}”. Use ${listed(names.map((one) => `${one}:`))}, or put the text in quotes.`,
    };
  }
  if (value === '') return said(`“${name}:” needs a value.`);
  if (name === 'verdict') return oneOf('verdict', value, verdicts, said);
  if (name === 'status') return oneOf('status', value, statuses, said);
  if ((name === 'after' || name === 'before') && moment(value) === null) {
    return said(`“${value}” isn’t a time. Use today, yesterday, 2h, 09:30 or 2026-01-31.`);
  }
  return null;
}

function oneOf(
  what: string,
  value: string,
  known: readonly string[],
  said: (message: string) => Fault,
): Fault | null {
  return known.includes(value) ? null : said(`No ${what} is called “${value}”. Use ${listed(known)}.`);
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** Returns the filter that tokens stand for; if several have the same name, the last one counts. */
export function filterOf(tokens: readonly Token[]): Filter {
  const filter: Filter = {};
  for (const { name, value } of tokens) {
    if (name === null) filter.q = value;
    if (name === 'source') filter.source = value;
    if (name === 'type') filter.type = value;
    if (name === 'verdict') filter.verdict = value as Verdict;
    if (name === 'status') filter.status = value as EventStatus;
    if (name === 'after') filter.since = moment(value) ?? '';
    if (name === 'before') filter.until = moment(value) ?? '';
  }
  return filter;
}

/** Returns a token as it would be typed. */
export function written({ name, value }: Pick<Token, 'name' | 'value'>): string {
  const quoted = /[\s"]/.test(value) ? JSON.stringify(value) : value;
  return name === null ? quoted : `${name}:${quoted}`;
}
