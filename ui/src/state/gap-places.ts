import type { Gap } from '../api/shapes';
import type { Page } from './pages';

/** A line about a gap in the list of events. */
export interface PlacedGap {
  gap: Gap;
  /** The index of the row above which the line stands. */
  at: number;
  /** How many older gaps would stand at the same place. */
  more: number;
}

/**
 * Places gaps in the list, each above the last event that was caught up, which marks the moment of coming back. A gap
 * without such an event stands above the newest event received before the gap ended. `held`: new events are not in the
 * list yet, so their gaps are left out too.
 */
export function placeGaps(gaps: readonly Gap[], pages: readonly Page[], held: boolean): PlacedGap[] {
  const newest = pages[0]?.rows?.[0]?.seq ?? 0;
  const placed = gaps
    .filter(({ last_seq: last }) => !(held && (last ?? 0) > newest))
    .flatMap((gap) => {
      const at = gap.last_seq === null ? indexByTime(gap, pages) : indexBySeq(gap.last_seq, pages);
      return at === null ? [] : [{ gap, at, more: 0 }];
    })
    .sort((a, b) => a.at - b.at || Date.parse(b.gap.from) - Date.parse(a.gap.from));
  const lines: PlacedGap[] = [];
  for (const one of placed) {
    const last = lines.at(-1);
    if (last?.at === one.at) last.more += 1;
    else lines.push(one);
  }
  return lines;
}

/** Returns the index of the first row with this number or a lower one; if its page is not loaded, the page's start. */
function indexBySeq(seq: number, pages: readonly Page[]): number | null {
  let start = 0;
  for (const { last, count, rows } of pages) {
    if (last <= seq) return start + (rows ? lowest(rows.length, (at) => (rows[at]?.seq ?? 0) <= seq) : 0);
    start += count;
  }
  return null;
}

function indexByTime({ until }: Gap, pages: readonly Page[]): number | null {
  const back = Date.parse(until ?? '');
  let start = 0;
  for (const { count, rows } of pages) {
    const at = rows?.findIndex((row) => row.at <= back) ?? -1;
    if (at >= 0) return start + at;
    start += count;
  }
  return null;
}

/** Returns the lowest index below `length` that fits, or `length`; if one index fits, all above it must fit too. */
function lowest(length: number, fits: (at: number) => boolean): number {
  let [from, to] = [0, length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (fits(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
