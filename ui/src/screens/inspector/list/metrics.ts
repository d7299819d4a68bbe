/** The height of a row: one line or two, comfortable or compact. */
export function heightOf(density: 'comfortable' | 'compact', twoLines: boolean): number {
  if (density === 'compact') return twoLines ? 44 : 28;
  return twoLines ? 52 : 32;
}

/** The height of a line that tells of a gap. */
export function gapHeight(twoLines: boolean): number {
  return twoLines ? 44 : 28;
}

/** How rows and the lines between them are spread over the height of the list. */
export interface Spread {
  row: number;
  gap: number;
  /** The indexes of the rows that a gap line stands above, ascending. */
  gaps: readonly number[];
}

/** Where the row with that index begins. */
export function topOf(index: number, { row, gap, gaps }: Spread): number {
  return index * row + gap * countUpTo(index, gaps);
}

/** Where the n-th gap line begins. */
export function gapTop(n: number, { row, gap, gaps }: Spread): number {
  return (gaps[n] ?? 0) * row + gap * n;
}

/** How high it all is. */
export function heightOfAll(length: number, { row, gap, gaps }: Spread): number {
  return length * row + gap * gaps.length;
}

/** The row at that height, with the part of it that is above; a gap line belongs to the row below it. */
export function indexAt(y: number, { row, gap, gaps }: Spread): number {
  let above = 0;
  for (const at of gaps) {
    if (y < at * row + gap * above) break;
    if (y < at * row + gap * (above + 1)) return at;
    above += 1;
  }
  return (y - gap * above) / row;
}

/** The height of a place among the rows: undoes `indexAt`. */
export function heightAt(place: number, spread: Spread): number {
  const index = Math.floor(place);
  return topOf(index, spread) + (place - index) * spread.row;
}

/** Rows beyond the edges that are drawn too, so that scrolling shows no gap. */
const BEYOND = 8;

/** The rows that are drawn: those in sight and a few beyond. */
export function visibleRange(
  scrollTop: number,
  height: number,
  length: number,
  spread: Spread,
): { from: number; to: number } {
  const from = Math.max(0, Math.floor(indexAt(scrollTop, spread)) - BEYOND);
  const to = Math.min(length, Math.ceil(indexAt(scrollTop + height, spread)) + BEYOND);
  return { from: Math.min(from, to), to };
}

function countUpTo(index: number, gaps: readonly number[]): number {
  let count = 0;
  while (count < gaps.length && gaps[count]! <= index) count += 1;
  return count;
}
