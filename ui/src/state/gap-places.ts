import type { Gap } from '../api/shapes';
import type { Page } from './pages';

/** A line of the list that tells of a gap. */
export interface PlacedGap {
  gap: Gap;
  /** The index of the row that it stands above. */
  at: number;
  /** Gaps before it that would stand there too. */
  more: number;
}

/**
 * Where gaps stand in the list: above the last event that was caught up, which is the moment of coming back. Without
 * such an event, above the first that came before it. `held`: new events are not in the list yet, nor is their gap.
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

/** The first row with this number or a lower one. In a stretch that was let go: its beginning, until it is read again. */
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

/** The lowest index below `length` that fits, where all above it fit too. */
function lowest(length: number, fits: (at: number) => boolean): number {
  let [from, to] = [0, length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (fits(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
