// Waits for something to become true.
import { setTimeout as pause } from 'node:timers/promises';

/** How long anything may take on a slow machine. */
export const LONG = 60_000;

/**
 * Calls `ask` repeatedly until it returns something other than `undefined`, `null` or `false`.
 * An error that it throws counts as "not yet", and is reported if the time runs out.
 */
export async function eventually(what, ask, within = LONG) {
  const end = performance.now() + within;
  let last;
  for (;;) {
    try {
      last = await ask();
      if (last !== undefined && last !== null && last !== false) return last;
    } catch (error) {
      last = error;
    }
    if (performance.now() > end) break;
    await pause(15); // the pace of asking, not a guess at how long it takes
  }
  const seen = last instanceof Error ? last.message : JSON.stringify(last);
  throw new Error(`it never came to this within ${within / 1000} s: ${what} (last: ${seen})`);
}

/** Settles like the promise, or fails if that takes too long. */
export function within(what, promise, limit = LONG) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${limit / 1000} s: ${what}`)), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
