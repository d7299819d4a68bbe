import type { Attempt, Delivery } from '../../../../api/shapes';
import { duration } from '../../../../format/duration';
import { span } from './span';

/** A row of a delivery's timeline. */
export interface Beat {
  attempt: Attempt | null;
  /** Milliseconds from the capture, or for a replay from the first attempt, to the end of this one. */
  at: number;
  /** Where the wait before the attempt begins, and where the attempt itself begins and ends, in per cent of the axis. */
  from: number;
  start: number;
  end: number;
}

/**
 * Places a delivery's attempts on one time axis, which begins with the first of them: an event may have waited for hours
 * before it. `capturedAt` is null for a replay.
 */
export function timeline(delivery: Delivery, capturedAt: string | null): Beat[] {
  const { attempts } = delivery;
  const first = attempts[0] ? Date.parse(attempts[0].started_at) : 0;
  const captured = capturedAt === null ? first : Date.parse(capturedAt);
  const starts = attempts.map((attempt) => Math.max(0, Date.parse(attempt.started_at) - first));
  const ends = attempts.map((attempt, at) => (starts[at] ?? 0) + attempt.duration_ms);
  const length = Math.max(1, ...ends);
  const place = (ms: number) => Math.min(100, (ms / length) * 100);
  const beats = attempts.map((attempt, at) => ({
    attempt,
    at: Math.max(0, first + (ends[at] ?? 0) - captured),
    from: place(ends[at - 1] ?? starts[at] ?? 0),
    start: place(starts[at] ?? 0),
    end: place(ends[at] ?? 0),
  }));
  return capturedAt === null ? beats : [{ attempt: null, at: 0, from: 0, start: 0, end: 0 }, ...beats];
}

/** From this many milliseconds on, one unit is shown, because the columns are narrow. */
const LONG = 59_950;

/** Says how long an attempt took: `< 1 ms`, `61 ms`, `1.84 s`, `5 min`; `–` if it was cut off at an unknown time. */
export function tookText({ duration_ms: ms, ambiguous }: Pick<Attempt, 'duration_ms' | 'ambiguous'>): string {
  if (ms < 1 && ambiguous) return '–';
  if (ms < 1) return '< 1 ms';
  return ms < LONG ? duration(ms) : span(ms);
}

/** Says when an attempt ended, in the unit in which a duration is said: `61 ms`, `6.40 s`, `15 min`. */
export function offsetText(ms: number): string {
  return ms < LONG ? duration(ms) : span(ms);
}

/** Returns the number of the last failed attempt, which is shown unfolded. */
export function lastFailure(delivery: Delivery): number | null {
  return delivery.attempts.findLast((attempt) => !isSuccess(attempt))?.number ?? null;
}

/** Whether an attempt got a complete 2xx answer. */
export function isSuccess({ response_status, error }: Attempt): boolean {
  return error == null && response_status != null && response_status >= 200 && response_status < 300;
}

/** The deliveries to one target. */
export interface TargetDeliveries {
  target: string;
  latest: Delivery;
  earlier: number;
}

/** Groups deliveries by target, in the order of the first delivery to each; the latest one represents its group. */
export function byTarget(deliveries: Delivery[]): TargetDeliveries[] {
  const groups = new Map<string, TargetDeliveries>();
  for (const latest of deliveries) {
    const earlier = groups.get(latest.target);
    groups.set(latest.target, { target: latest.target, latest, earlier: earlier ? earlier.earlier + 1 : 0 });
  }
  return [...groups.values()];
}

/** Returns the time from capture to the answer that completed the first delivery that is no replay, and its status. */
export function captureToDone(
  deliveries: Delivery[],
  receivedAt: string,
): { ms: number; status: number } | null {
  const done = deliveries.find((delivery) => delivery.status === 'completed' && !delivery.replay);
  const last = done?.attempts.at(-1);
  if (!last || last.response_status == null) return null;
  return {
    ms: Date.parse(last.started_at) + last.duration_ms - Date.parse(receivedAt),
    status: last.response_status,
  };
}
