import type { Tunnel } from '../../api/shapes';
import type { History } from '../../state/history';
import type { ShownGap } from './gaps';

/** A part of a day; `from` and `to` are fractions of the day. */
export interface Stretch {
  kind: 'connected' | 'offline';
  from: number;
  to: number;
}

/** The end of a gap, as a fraction of its day, with the gap. */
export interface Mark {
  at: number;
  gap: ShownGap;
}

/** One line of the chart. */
export interface Day {
  /** The day's midnight. */
  start: number;
  label: string;
  today: boolean;
  /** When on this day the tunnel was added, as a fraction of the day; null if on another day. */
  added: number | null;
  /** The current time as a fraction of the day; null if it is not today. */
  now: number | null;
  stretches: Stretch[];
  marks: Mark[];
}

/** The tunnel's past. */
export interface Past {
  /** From when on its past is known; nothing is drawn before. */
  since: number;
  /** When the tunnel was added. */
  added: number;
  gaps: readonly ShownGap[];
}

interface Span {
  from: number;
  to: number;
}

const DAYS = 7;
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });

/**
 * Returns from when on a tunnel's past is known: since it was added, but not before the oldest gap that was read as long
 * as there are older ones, and not at all before any were read.
 */
export function knownSince(
  { created_at: created }: Pick<Tunnel, 'created_at'>,
  history: History | undefined,
  now: number,
): number {
  if (!history) return now;
  const added = Date.parse(created);
  const oldest = history.items.at(-1);
  return history.next !== null && oldest ? Math.max(added, Date.parse(oldest.from)) : added;
}

/** Returns the midnight at which the week begins that ends today. */
export function weekStart(now: number): number {
  return midnight(now, 1 - DAYS);
}

/** Returns the last seven days, oldest first: when the tunnel was connected, when not, and when gaps ended. */
export function week(now: number, past: Past): Day[] {
  const offline = outages(now, past);
  return Array.from({ length: DAYS }, (_, n) => {
    const start = midnight(now, n + 1 - DAYS);
    const end = midnight(now, n + 2 - DAYS); // 23 or 25 hours later if the clocks change
    const share = (at: number) => (at - start) / (end - start);
    const known = { from: Math.max(start, past.since), to: Math.min(end, now) };
    return {
      start,
      label: `${weekday.format(start)} ${new Date(start).getDate()}`,
      today: n === DAYS - 1,
      added: past.added >= start && past.added < end ? share(past.added) : null,
      now: n === DAYS - 1 ? share(now) : null,
      stretches: split(known, offline).map((one) => ({ ...one, from: share(one.from), to: share(one.to) })),
      marks: marksIn(start, end, past.gaps).map(({ until, gap }) => ({ at: share(until), gap })),
    };
  });
}

function midnight(now: number, days: number): number {
  const today = new Date(now);
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() + days).getTime();
}

/** Returns when the tunnel was offline, oldest first and without overlaps. */
function outages(now: number, { gaps }: Past): Span[] {
  const all = gaps.map(({ from, until }) => ({
    from: Date.parse(from),
    to: until === null ? now : Date.parse(until),
  }));
  const whole: Span[] = [];
  for (const one of all.sort((a, b) => a.from - b.from)) {
    const last = whole.at(-1);
    if (last && one.from <= last.to) last.to = Math.max(last.to, one.to);
    else whole.push(one);
  }
  return whole;
}

/** Splits a period into pieces that are alternately connected and offline. */
function split({ from, to }: Span, offline: readonly Span[]): (Span & Pick<Stretch, 'kind'>)[] {
  const pieces: (Span & Pick<Stretch, 'kind'>)[] = [];
  let at = from;
  for (const gap of offline) {
    const [begins, ends] = [Math.max(gap.from, at), Math.min(gap.to, to)];
    if (ends <= begins) continue;
    if (begins > at) pieces.push({ kind: 'connected', from: at, to: begins });
    pieces.push({ kind: 'offline', from: begins, to: ends });
    at = ends;
  }
  if (to > at) pieces.push({ kind: 'connected', from: at, to });
  return pieces;
}

function marksIn(start: number, end: number, gaps: readonly ShownGap[]): { until: number; gap: ShownGap }[] {
  return gaps
    .flatMap((gap) => (gap.until === null ? [] : [{ until: Date.parse(gap.until), gap }]))
    .filter(({ until, gap }) => until >= start && until < end && gap.caught_up + (gap.lost ?? 0) > 0)
    .sort((a, b) => a.until - b.until);
}
