import type { Gap, Tunnel, Why } from '../../api/shapes';
import { count, counted } from '../../format/count';
import { duration } from '../../format/duration';
import { moment, span } from '../../format/gap';
import { isUp } from '../../format/tunnel';
import { outage, outageLabel, outageOf, type Outage } from '../../format/why';
import { capital } from '../../format/words';

/** A gap as chart and table show it. */
export interface ShownGap extends Omit<Gap, 'why'>, Outage {
  /** Whether it goes on, or is still being caught up. */
  open: boolean;
}

/**
 * Returns gaps as they are shown. An open gap that is being caught up ends when the tunnel connected again. A gap is
 * stored when it has lasted for a while, so the present one may not be among them yet; the chart and the table both
 * have it.
 */
export function shownGaps(gaps: readonly Gap[], tunnel: Tunnel): ShownGap[] {
  const shown = gaps.map((gap) => shownGap(gap, tunnel));
  if (isUp(tunnel) || shown.some(({ until }) => until === null)) return shown;
  const { id, label, since } = tunnel;
  const none = {
    caught_up: 0,
    lost: null,
    synced: null,
    unrecoverable: null,
    took_ms: null,
    first_seq: null,
    last_seq: null,
  };
  const present = { id: 0, tunnel_id: id, label, from: since, until: null, open: true };
  return [{ ...present, ...none, ...outageOf(tunnel) }, ...shown];
}

function shownGap(gap: Gap, tunnel: Tunnel): ShownGap {
  if (gap.until !== null) return { ...gap, now: null, open: false };
  if (isUp(tunnel)) {
    const until = Date.parse(tunnel.since) > Date.parse(gap.from) ? tunnel.since : gap.from;
    return { ...gap, until, now: null, open: true };
  }
  // A gap keeps the reason for which it began also if the tunnel is turned off meanwhile.
  const { why, now } = tunnel.state === 'off' ? beside(gap.why, 'off') : outageOf(tunnel);
  return { ...gap, why: why ?? gap.why, now, open: true };
}

function beside(why: Why, now: Why): Outage {
  return { why, now: why === now ? null : now };
}

/** A row of the table of gaps. */
export interface GapRow {
  gap: ShownGap;
  when: string;
  length: string;
  why: string;
  caught: string;
  lost: string;
  took: string;
}

/** Returns the rows for gaps. */
export function gapRows(gaps: readonly ShownGap[], { kind }: Pick<Tunnel, 'kind'>, now: number): GapRow[] {
  return gaps.map((gap) => ({
    gap,
    when: gapWhen(gap, now),
    length: gapLength(gap, now),
    why: gapWhy(gap, kind),
    ...numbers(gap, kind),
    took: tookWords(gap.took_ms),
  }));
}

/** Says what came of a gap. Only a relay keeps requests, so only a relay knows; while a gap goes on, nobody does. */
function numbers(
  { until, open, caught_up: caught, lost, synced, unrecoverable }: ShownGap,
  kind: Tunnel['kind'],
) {
  if (kind !== 'relay') {
    if (synced === null) return { caught: '–', lost: 'unknown' };
    return { caught: `${count(synced)} by sync`, lost: count(unrecoverable ?? 0) };
  }
  if (until === null) return { caught: '–', lost: '–' };
  if (open) return { caught: `${count(caught)} so far`, lost: lost ? `${count(lost)} so far` : '–' };
  const also = synced ? ` + ${count(synced)} by sync` : '';
  return { caught: `${count(caught)}${also}`, lost: lost === null ? 'unknown' : count(lost) };
}

/** Returns the gaps that did not end before this time. */
export function gapsSince(gaps: readonly ShownGap[], from: number): ShownGap[] {
  return gaps.filter(({ until }) => until === null || Date.parse(until) >= from);
}

/** Whether events may be missing that were sent in a gap: some are lost, or nobody knows, and no sync has looked. */
export const canMiss = ({ until, open, lost, synced }: ShownGap): boolean =>
  until !== null && !open && lost !== 0 && synced === null;

/** Returns those of the sources that come through a tunnel; one that names none serves all. */
export function servedBy<T extends { source: string }>(
  { source, sources }: Pick<Tunnel, 'source' | 'sources'>,
  all: readonly T[],
): T[] {
  const named = source === null ? sources : [source];
  return all.filter((one) => named.length === 0 || named.includes(one.source));
}

/** Returns the text shown in place of gaps if there are none. */
export function noGaps({ kind }: Pick<Tunnel, 'kind'>, isOlder: boolean): string {
  const came = kind === 'relay' ? 'with what was caught up' : 'although what was sent meanwhile is unknown';
  return `${isOlder ? 'None in 7 days.' : 'None so far.'} Offline times are listed here, ${came}.`;
}

/** Says when a gap was: `Today 02:10–08:44`, `Mon 01:06–08:06`, `Today 02:10 until now`. */
function gapWhen({ from, until }: ShownGap, now: number): string {
  const began = Date.parse(from);
  if (until === null) return `${capital(moment(began, now, 'today'))} until now`;
  return capital(span(began, Date.parse(until), now, 'today'));
}

/** Says in few words why there was a gap, and what keeps it open if that is something else. */
function gapWhy({ why, now }: ShownGap, kind: Tunnel['kind']): string {
  if (why === null) return 'Not connected yet';
  return `${outageLabel(why, kind)}${now === null ? '' : `, now ${outage(now, kind)}`}`;
}

/** Says how long a gap was. */
function gapLength({ from, until }: ShownGap, now: number): string {
  return duration(Math.max(0, (until === null ? now : Date.parse(until)) - Date.parse(from)));
}

/** Says how long catching up took: `0.2 s`. */
export function tookWords(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 10_000 ? `${(Math.max(ms, 50) / 1000).toFixed(1)} s` : duration(ms);
}

/** Sums up gaps: `9 in 7 days, 214 events caught up, 2 not recoverable`. */
export function gapSum(gaps: readonly ShownGap[], { kind }: Pick<Tunnel, 'kind'>): string {
  const many = `${count(gaps.length)} in 7 days`;
  if (kind !== 'relay') return many;
  const sum = (of: (gap: ShownGap) => number) => gaps.reduce((total, gap) => total + of(gap), 0);
  const [caught, lost] = [sum((gap) => gap.caught_up), sum((gap) => gap.lost ?? 0)];
  const caughtUp = `${counted(caught, 'event')} caught up${gaps.some(({ open }) => open) ? ' so far' : ''}`;
  return [many, caughtUp, ...(lost > 0 ? [`${count(lost)} not recoverable`] : [])].join(', ');
}
