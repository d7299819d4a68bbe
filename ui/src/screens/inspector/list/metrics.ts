/** The height of a row: one line or two, comfortable or compact. */
export function heightOf(density: 'comfortable' | 'compact', twoLines: boolean): number {
  if (density === 'compact') return twoLines ? 44 : 28;
  return twoLines ? 52 : 32;
}

/** Rows beyond the edges that are drawn too, so that scrolling shows no gap. */
const BEYOND = 8;

/** The rows that are drawn: those in sight and a few beyond. */
export function visibleRange(
  scrollTop: number,
  height: number,
  rowHeight: number,
  length: number,
): { from: number; to: number } {
  const from = Math.max(0, Math.floor(scrollTop / rowHeight) - BEYOND);
  const to = Math.min(length, Math.ceil((scrollTop + height) / rowHeight) + BEYOND);
  return { from: Math.min(from, to), to };
}
