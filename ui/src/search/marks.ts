/** A part of a text, as indexes of its characters. */
export interface Range {
  from: number;
  to: number;
}

/** A part of a text that is marked or not. */
export interface Piece {
  text: string;
  marked: boolean;
}

/** A text without case, and where each of its characters was. */
interface Folded {
  text: string;
  /** The index in the original of each character; null if all are where they were. */
  origins: number[] | null;
}

/** Folds a text as the search does: each character becomes its lower-case form, whatever stands beside it. */
export function fold(text: string): Folded {
  const lower = text.toLowerCase();
  // A sigma at the end of a word is the only letter whose form depends on its place.
  if (lower.length === text.length && !text.includes('Σ')) return { text: lower, origins: null };
  const origins: number[] = [];
  let folded = '';
  let at = 0;
  for (const letter of text) {
    const form = letter.toLowerCase();
    folded += form;
    for (let n = 0; n < form.length; n += 1) origins.push(at);
    at += letter.length;
  }
  return { text: folded, origins: [...origins, at] };
}

/**
 * Returns the parts of a text that match one of the folded `marks`, in order; those that overlap or touch are one.
 * There are at most `most`.
 */
export function matchesIn(text: string, marks: readonly string[], most = Infinity): Range[] {
  const sought = marks.filter((mark) => mark !== '');
  if (sought.length === 0) return [];
  const folded = fold(text);
  const found = sought.flatMap((mark) => rangesOf(mark, folded, most));
  return merged(found.sort((a, b) => a.from - b.from)).slice(0, most);
}

/** Cuts a text into what is marked and what is not. */
export function pieces(text: string, marks: readonly string[]): Piece[] {
  const cut: Piece[] = [];
  let at = 0;
  for (const { from, to } of matchesIn(text, marks)) {
    if (from > at) cut.push({ text: text.slice(at, from), marked: false });
    cut.push({ text: text.slice(from, to), marked: true });
    at = to;
  }
  if (at < text.length || cut.length === 0) cut.push({ text: text.slice(at), marked: false });
  return cut;
}

function rangesOf(mark: string, { text, origins }: Folded, most: number): Range[] {
  const found: Range[] = [];
  for (
    let at = text.indexOf(mark);
    at >= 0 && found.length < most;
    at = text.indexOf(mark, at + mark.length)
  ) {
    const end = at + mark.length;
    if (!origins) found.push({ from: at, to: end });
    else found.push({ from: origins[at]!, to: endOf(end, origins) });
  }
  return found;
}

/** Returns the index in the original at which a match ends; half a character counts as the whole. */
function endOf(end: number, origins: number[]): number {
  let at = end;
  while (at < origins.length - 1 && origins[at] === origins[end - 1]) at += 1;
  return origins[at]!;
}

function merged(ranges: Range[]): Range[] {
  const joined: Range[] = [];
  for (const range of ranges) {
    const last = joined.at(-1);
    if (last && range.from <= last.to) last.to = Math.max(last.to, range.to);
    else joined.push({ ...range });
  }
  return joined;
}
