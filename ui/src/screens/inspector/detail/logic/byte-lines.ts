import { bodyAtoms, type Atom } from './body-atoms';
import type { TokenKind } from './json-tokens';
import { sequenceDiff } from './sequence-diff';

/** A piece of a line; `changed` if the other body doesn't have it. */
export interface Piece {
  kind: TokenKind;
  text: string;
  changed: boolean;
}

/** A line of one body. */
export interface ByteLine {
  /** The offset of its first byte. */
  at: number;
  pieces: Piece[];
}

/** A line of both bodies, side by side; null if only the other body has it. */
export interface ByteRow {
  first: ByteLine | null;
  other: ByteLine | null;
  changed: boolean;
}

type Side = 'first' | 'other';

/** Compares two bodies line by line: equal parts stand side by side, and every piece says whether it changed. */
export function byteRows(first: Uint8Array, other: Uint8Array): ByteRow[] {
  const [a, b] = [bodyAtoms(first), bodyAtoms(other)];
  const rows = new Rows(!a.lines && !b.lines, { first: a.isText, other: b.isText });
  for (const [x, y] of paired(a.atoms, b.atoms)) rows.put(x, y);
  return rows.done();
}

/** Pairs the atoms of two bodies, ignoring white space; replaced atoms stand beside their replacements. */
function* paired(a: Atom[], b: Atom[]): Generator<[Atom | null, Atom | null]> {
  const steps = sequenceDiff(
    a.map(({ text }) => text),
    b.map(({ text }) => text),
  );
  const waiting: { first: Atom[]; other: Atom[] } = { first: [], other: [] };
  function* release(): Generator<[Atom | null, Atom | null]> {
    const { first, other } = waiting;
    for (let at = 0; at < Math.max(first.length, other.length); at++)
      yield [first[at] ?? null, other[at] ?? null];
    [waiting.first, waiting.other] = [[], []];
  }
  for (const [x, y] of steps) {
    if (x !== null && y !== null) {
      yield* release();
      yield [a[x]!, b[y]!];
    } else if (x !== null) waiting.first.push(a[x]!);
    else if (y !== null) waiting.other.push(b[y]!);
  }
  yield* release();
}

/** Builds the rows of a comparison. */
class Rows {
  readonly #rows: ByteRow[] = [];
  #row: ByteRow = { first: null, other: null, changed: false };
  readonly #at = { first: 0, other: 0 };

  constructor(
    /** Neither body has line breaks of its own, so lines are broken by structure. */
    readonly structured: boolean,
    readonly isText: Record<Side, boolean>,
  ) {}

  put(first: Atom | null, other: Atom | null): void {
    if (this.structured && [first?.text, other?.text].some((text) => text === '}' || text === ']'))
      this.#break();
    this.#spaces(first, other);
    const [a, b] = apart(first?.text ?? null, other?.text ?? null);
    this.#add('first', first?.kind ?? 'other', a);
    this.#add('other', other?.kind ?? 'other', b);
    if (this.structured && (first?.breaks || other?.breaks)) this.#break();
  }

  done(): ByteRow[] {
    this.#break();
    return this.#rows;
  }

  #spaces(first: Atom | null, other: Atom | null): void {
    const [a, b] = apart(first?.before ?? null, other?.before ?? null);
    const [left, right] = [linesOf(a), linesOf(b)];
    for (let at = 0; at < Math.max(left.length, right.length); at++) {
      if (at > 0) this.#break();
      this.#add('first', 'space', left[at] ?? []);
      this.#add('other', 'space', right[at] ?? []);
    }
  }

  #add(side: Side, kind: TokenKind, parts: Part[]): void {
    for (const { text, changed } of parts) {
      if (text === '') continue;
      const line = (this.#row[side] ??= { at: this.#at[side], pieces: [] });
      const last = line.pieces.at(-1);
      if (last && last.kind === kind && last.changed === changed) last.text += text;
      else line.pieces.push({ kind, text, changed });
      this.#at[side] += this.isText[side] ? utf8Length(text) : text.length;
      this.#row.changed ||= changed;
    }
  }

  #break(): void {
    if (this.#row.first || this.#row.other) this.#rows.push(this.#row);
    this.#row = { first: null, other: null, changed: false };
  }
}

interface Part {
  text: string;
  changed: boolean;
}

/** Splits two texts that replace each other into parts; a common start and end count as unchanged. */
function apart(first: string | null, other: string | null): [Part[], Part[]] {
  if (first === other) return [same(first), same(other)];
  if (first === null || other === null) return [all(first), all(other)];
  let start = 0;
  const most = Math.min(first.length, other.length);
  while (start < most && first[start] === other[start]) start++;
  let end = 0;
  while (end < most - start && first[first.length - 1 - end] === other[other.length - 1 - end]) end++;
  if (isHalf(first, start)) start--;
  if (isHalf(first, first.length - end)) end--;
  const cut = (text: string): Part[] => [
    { text: text.slice(0, start), changed: false },
    { text: text.slice(start, text.length - end), changed: true },
    { text: text.slice(text.length - end), changed: false },
  ];
  return [cut(first), cut(other)];
}

/** Whether a position lies between the two halves of a surrogate pair. */
function isHalf(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}

const same = (text: string | null): Part[] => (text === null ? [] : [{ text, changed: false }]);
const all = (text: string | null): Part[] => (text === null ? [] : [{ text, changed: true }]);

/** Splits white space after each line feed. */
function linesOf(parts: Part[]): Part[][] {
  const lines: Part[][] = [[]];
  for (const { text, changed } of parts) {
    text.split(/(?<=\n)/).forEach((piece) => {
      lines.at(-1)!.push({ text: piece, changed });
      if (piece.endsWith('\n')) lines.push([]);
    });
  }
  return lines;
}

function utf8Length(text: string): number {
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return length;
}
