// Waiting for something to become so.
import { setTimeout as pause } from 'node:timers/promises';

/** How long anything may take, on the slowest of machines. */
export const LONG = 60_000;

/**
 * Asks again and again until `ask` answers something other than `undefined`, `null` or `false`.
 * What it throws counts as "not yet", and is told when the time is over.
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
    await pause(15); // not a guess at how long it takes: only the pace of asking
  }
  const seen = last instanceof Error ? last.message : JSON.stringify(last);
  throw new Error(`it never came to this within ${within / 1000} s: ${what} (last: ${seen})`);
}

/** Settles as the promise does, or fails when it takes too long. */
export function within(what, promise, limit = LONG) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${limit / 1000} s: ${what}`)), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
