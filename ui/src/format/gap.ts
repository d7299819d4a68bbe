import type { Gap, Tunnel } from '../api/shapes';
import { count } from './count';
import { clockTime } from './time';
import { outageThen } from './why';

const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

function sameDay(a: number, b: number): boolean {
  return new Date(a).toDateString() === new Date(b).toDateString();
}

/** Returns the midnight six days before today: from then on every weekday occurs once. */
function weekBefore(now: number): number {
  const day = new Date(now);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - 6).getTime();
}

/** Names the day of a moment, seen from `now`: `today` (the parameter) for today, else `Wed` or `14 Nov`. */
export function dayOf(at: number, now: number, today = ''): string {
  if (sameDay(at, now)) return today;
  return at < now && at >= weekBefore(now) ? weekday.format(at) : date.format(at);
}

/** Formats day and time: `08:44` for today, `Wed 08:03`, `14 Nov 08:03`. */
export function moment(at: number, now: number, today = ''): string {
  return [dayOf(at, now, today), clockTime(at)].filter(Boolean).join(' ');
}

/** Formats a period: `02:10–08:44`, `Wed 01:54–08:03`, `Tue 23:10 – Wed 07:30`. */
export function span(from: number, until: number, now: number, today = ''): string {
  if (sameDay(from, until)) return `${moment(from, now, today)}–${clockTime(until)}`;
  return `${moment(from, now, today)} – ${moment(until, now, today)}`;
}

/** Whether a gap is worth a line: events were caught up or lost, or nobody knows and the tunnel was not turned off. */
export function isNews(gap: Gap): boolean {
  return gap.lost === null ? gap.why !== 'off' : gap.caught_up + gap.lost > 0;
}

/** What a sentence about a gap is made of; `open`: it goes on, or is still being caught up. */
type Told = Pick<Gap, 'from' | 'until' | 'caught_up' | 'lost' | 'synced' | 'unrecoverable'> & {
  why: Gap['why'] | null;
  open?: boolean;
};

/** Says what backup sync recovered of a time: `2 recovered by sync, 1 not recoverable`; null if it hasn't looked. */
export function recovered({ synced, unrecoverable }: Pick<Gap, 'synced' | 'unrecoverable'>): string | null {
  if (synced === null) return null;
  return `${count(synced)} recovered by sync${unrecoverable ? `, ${count(unrecoverable)} not recoverable` : ''}`;
}

/** Says what happened in a gap: `Offline 02:10–08:44: 37 caught up, 0 lost`. With the kind of its tunnel, says why. */
export function gapSentence(gap: Told, now: number, kind?: Tunnel['kind']): string {
  const from = Date.parse(gap.from);
  const why = kind && gap.why ? outageThen(gap.why, kind) : '';
  if (gap.until === null) return `Offline since ${moment(from, now)}${why}`;
  const events = kind ? (gap.caught_up === 1 ? ' event' : ' events') : '';
  const found = recovered(gap);
  const caught =
    gap.lost !== null &&
    `${count(gap.caught_up)}${events} caught up${gap.open ? ' so far' : `, ${count(gap.lost)} lost`}`;
  const came = [caught, found].filter(Boolean).join(', ') || 'what was sent is lost, and how much is unknown';
  return `Offline ${span(from, Date.parse(gap.until), now)}${why}: ${came}`;
}

/** Says when a gap ended, as the beginning of its line in the list: `Back at 08:44.` */
export function backAt(until: number, now: number): string {
  const day = dayOf(until, now);
  return `Back at ${clockTime(until)}${day === '' ? '' : ` on ${day}`}.`;
}

/** Says in few words what came of a gap: `Back at 08:44, 37 caught up, 2 lost`. */
export function backLine(gap: Gap, now: number): string {
  const back = backAt(Date.parse(gap.until ?? gap.from), now).replace(/\.$/, '');
  const found = recovered(gap);
  if (gap.lost === null) return `${back}, ${found ?? 'nothing was stored'}`;
  const lost = gap.lost > 0 && `${count(gap.lost)} lost`;
  return [back, `${count(gap.caught_up)} caught up`, lost, found].filter(Boolean).join(', ');
}
