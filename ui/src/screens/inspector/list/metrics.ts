/** Returns the height of a row: one line or two, comfortable or compact. */
export function heightOf(density: 'comfortable' | 'compact', twoLines: boolean): number {
  if (density === 'compact') return twoLines ? 44 : 28;
  return twoLines ? 52 : 32;
}

/** Returns the height of a gap line. */
export function gapHeight(twoLines: boolean): number {
  return twoLines ? 44 : 28;
}

/** The row height, the gap-line height, and the places of the gap lines. */
export interface Spread {
  row: number;
  gap: number;
  /** The indexes of the rows that have a gap line above them, ascending. */
  gaps: readonly number[];
}

/** Returns the top of a row. */
export function topOf(index: number, { row, gap, gaps }: Spread): number {
  return index * row + gap * countUpTo(index, gaps);
}

/** Returns the top of the n-th gap line. */
export function gapTop(n: number, { row, gap, gaps }: Spread): number {
  return (gaps[n] ?? 0) * row + gap * n;
}

/** Returns the height of the whole list. */
export function heightOfAll(length: number, { row, gap, gaps }: Spread): number {
  return length * row + gap * gaps.length;
}

/** Returns the row at a height, with a fraction for the part of it above; a gap line belongs to the row below it. */
export function indexAt(y: number, { row, gap, gaps }: Spread): number {
  let above = 0;
  for (const at of gaps) {
    if (y < at * row + gap * above) break;
    if (y < at * row + gap * (above + 1)) return at;
    above += 1;
  }
  return (y - gap * above) / row;
}

/** Returns the height of a place that `indexAt` returned. */
export function heightAt(place: number, spread: Spread): number {
  const index = Math.floor(place);
  return topOf(index, spread) + (place - index) * spread.row;
}

/** How many rows beyond the edges are rendered too, so that scrolling shows no blank space. */
const BEYOND = 8;

/** Returns the range of rendered rows: the visible ones and a few beyond. */
export function visibleRange(
  scrollTop: number,
  height: number,
  length: number,
  spread: Spread,
): { from: number; to: number } {
  // If the list has become shorter, the browser scrolls it up with the next frame.
  const top = Math.min(scrollTop, Math.max(0, heightOfAll(length, spread) - height));
  const from = Math.max(0, Math.floor(indexAt(top, spread)) - BEYOND);
  const to = Math.min(length, Math.ceil(indexAt(top + height, spread)) + BEYOND);
  return { from: Math.min(from, to), to };
}

function countUpTo(index: number, gaps: readonly number[]): number {
  let count = 0;
  while (count < gaps.length && gaps[count]! <= index) count += 1;
  return count;
}
