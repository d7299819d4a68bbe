import type { Attempt, Delivery } from '../../../../api/shapes';
import { duration, offset } from '../../../../format/duration';
import { span } from './span';

/** A row of a delivery's timeline. */
export interface Beat {
  attempt: Attempt | null;
  /** Milliseconds from the start of the axis to the end of the attempt. */
  at: number;
  /** Where the attempt's tick stands, and where the wait before it begins, in per cent of the axis. */
  tick: number;
  from: number;
}

/**
 * Places a delivery's attempts on one time axis. The axis starts at the capture, or for a replay at the first attempt.
 * `capturedAt` is null for a replay.
 */
export function timeline(delivery: Delivery, capturedAt: string | null): Beat[] {
  const starts = delivery.attempts.map((attempt) => Date.parse(attempt.started_at));
  const begin = Math.min(capturedAt === null ? Infinity : Date.parse(capturedAt), ...starts);
  const ends = delivery.attempts.map((attempt, at) => (starts[at] ?? begin) + attempt.duration_ms - begin);
  const length = Math.max(1, ...ends);
  const place = (ms: number) => Math.min(100, Math.max(0, (ms / length) * 100));
  const attempts = delivery.attempts.map((attempt, at) => {
    const end = ends[at] ?? 0;
    return { attempt, at: end, tick: place(end), from: place(ends[at - 1] ?? 0) };
  });
  return capturedAt === null ? attempts : [{ attempt: null, at: 0, tick: 0, from: 0 }, ...attempts];
}

/** From this many milliseconds on, one unit is shown, because the columns are narrow. */
const LONG = 59_950;

/** Says how long an attempt took: `< 1 ms`, `61 ms`, `1.84 s`, `5 min`; `–` if it was cut off at an unknown time. */
export function tookText({ duration_ms: ms, ambiguous }: Pick<Attempt, 'duration_ms' | 'ambiguous'>): string {
  if (ms < 1 && ambiguous) return '–';
  if (ms < 1) return '< 1 ms';
  return ms < LONG ? duration(ms) : span(ms);
}

/** Says where on the axis an attempt ended: `0 s`, `6.40 s`, `15 min`. */
export function offsetText(ms: number): string {
  return ms < LONG ? offset(ms) : span(ms);
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
