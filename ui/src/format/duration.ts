const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats milliseconds for people: `42 ms`, `1.84 s`, `12.3 s`, `5 min 12 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 9_995) return `${(ms / SECOND).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < HOUR) return two(ms, MINUTE, 'min', SECOND, 's');
  if (ms < DAY) return two(ms, HOUR, 'h', MINUTE, 'min');
  return two(ms, DAY, 'd', HOUR, 'h');
}

function two(ms: number, big: number, bigName: string, small: number, smallName: string): string {
  const smalls = Math.round(ms / small);
  const per = big / small;
  const rest = smalls % per;
  const head = `${Math.floor(smalls / per)} ${bigName}`;
  return rest === 0 ? head : `${head} ${rest} ${smallName}`;
}

/** Formats a wait in whole units: `42 s`, `12 min`, `3 h`. */
export function wait(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / SECOND));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
}
