const units: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns the RFC 3339 time of `now`, `today`, `yesterday`, `2h` (ago), `09:30` (today), a date or time; else null. */
export function moment(word: string, now = new Date()): string | null {
  const at = relative(word, now) ?? absolute(word);
  return at === null || Number.isNaN(at.getTime()) ? null : at.toISOString();
}

function relative(word: string, now: Date): Date | null {
  if (word === 'now') return now;
  if (word === 'today') return midnight(now, 0);
  if (word === 'yesterday') return midnight(now, -1);
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(word) ?? [];
  if (amount && unit) return new Date(now.getTime() - Number(amount) * (units[unit] ?? 0));
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(word) ?? [];
  if (!hours || !minutes) return null;
  const at = midnight(now, 0);
  at.setHours(Number(hours), Number(minutes));
  return at;
}

function midnight(now: Date, days: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
}

/** Reads a date as its local midnight, and a time without a zone as local time. */
function absolute(word: string): Date | null {
  const [, year, month, day, time] = /^(\d{4})-(\d\d)-(\d\d)(T.+)?$/i.exec(word) ?? [];
  if (!year || !month || !day) return null;
  if (time) return new Date(word.toUpperCase());
  const at = new Date(Number(year), Number(month) - 1, Number(day));
  return at.getMonth() + 1 === Number(month) && at.getDate() === Number(day) ? at : null;
}
