const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const hours = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const seconds = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const month = new Intl.DateTimeFormat('en-GB', { month: 'short', year: '2-digit' });
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

/** Formats a moment for a narrow column, seen from `now`: `26 s`, `12 m`, `08:31`, `Wed`, `14 Nov`, `Nov 25`. */
export function rowTime(at: number, now: number): string {
  const age = now - at;
  if (age < MINUTE) return `${Math.max(0, Math.floor(age / 1000))} s`;
  if (age < 30 * MINUTE) return `${Math.floor(age / MINUTE)} m`;
  if (sameDay(at, now)) return hours.format(at);
  if (age < 6 * DAY) return weekday.format(at);
  return age < 330 * DAY ? day.format(at) : month.format(at);
}

function sameDay(a: number, b: number): boolean {
  const [one, other] = [new Date(a), new Date(b)];
  return one.getDate() === other.getDate() && b - a < DAY;
}

/** Formats the time of day: `09:00`. */
export function clockTime(at: string | number): string {
  return hours.format(new Date(at));
}

/** Formats the time of day with milliseconds: `09:00:52.381`. */
export function preciseTime(at: string): string {
  return `${seconds.format(new Date(at))}.${fraction(at).slice(0, 3)}`;
}

/** Formats date and time to the second: `20 Nov 2026, 09:00:51`. */
export function dateTime(at: string | number): string {
  const moment = new Date(at);
  return `${date.format(moment)}, ${seconds.format(moment)}`;
}

/** Formats date and time with the stored microseconds: `20 Nov 2026, 09:00:52.381204`. */
export function exactTime(at: string): string {
  return `${dateTime(at)}.${fraction(at)}`;
}

function fraction(at: string): string {
  const digits = /\.(\d+)/.exec(at)?.[1] ?? '';
  return digits.padEnd(6, '0').slice(0, 6);
}
