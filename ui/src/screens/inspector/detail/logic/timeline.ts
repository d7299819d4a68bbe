import type { Attempt, Delivery } from '../../../../api/shapes';
import { duration, offset } from '../../../../format/duration';
import { span } from './span';

/** A row of a delivery's timeline. */
export interface Beat {
  attempt: Attempt | null;
  /** Milliseconds from the beginning of the axis to the end of the attempt. */
  at: number;
  /** Where its tick stands, and where the wait before it began, in per cent of the axis. */
  tick: number;
  from: number;
}

/**
 * The attempts of a delivery on one time axis. It begins at the capture; that of a replay at its first attempt.
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

/** From here on one unit has to do: the columns are narrow. */
const LONG = 59_950;

/** How long an attempt took: `< 1 ms`, `61 ms`, `1.84 s`, `5 min`; `–` for one that was cut off, whose end is not known. */
export function tookText({ duration_ms: ms, ambiguous }: Pick<Attempt, 'duration_ms' | 'ambiguous'>): string {
  if (ms < 1 && ambiguous) return '–';
  if (ms < 1) return '< 1 ms';
  return ms < LONG ? duration(ms) : span(ms);
}

/** Where on the axis an attempt ended: `0 s`, `6.40 s`, `15 min`. */
export function offsetText(ms: number): string {
  return ms < LONG ? offset(ms) : span(ms);
}

/** The last attempt that failed: it is the one that is unfolded. */
export function lastFailure(delivery: Delivery): number | null {
  return delivery.attempts.findLast((attempt) => !isSuccess(attempt))?.number ?? null;
}

/** Whether an attempt got a 2xx, whole. */
export function isSuccess({ response_status, error }: Attempt): boolean {
  return error == null && response_status != null && response_status >= 200 && response_status < 300;
}

/** The deliveries to one target. */
export interface TargetDeliveries {
  target: string;
  latest: Delivery;
  earlier: number;
}

/** Deliveries by target, in order of the first one to each; the latest stands for them all. */
export function byTarget(deliveries: Delivery[]): TargetDeliveries[] {
  const groups = new Map<string, TargetDeliveries>();
  for (const latest of deliveries) {
    const earlier = groups.get(latest.target);
    groups.set(latest.target, { target: latest.target, latest, earlier: earlier ? earlier.earlier + 1 : 0 });
  }
  return [...groups.values()];
}

/** How long it took from capture to the answer that completed the first hand-over, and that answer. */
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
