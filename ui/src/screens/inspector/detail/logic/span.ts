const UNITS = [
  [86_400, 2, 'days'],
  [3_600, 2, 'h'],
  [60, 2, 'min'],
] as const;

/** Formats a duration for a sentence: `0.4 s`, `42 s`, `12 min`, `5 h`, `3 days`. */
export function span(ms: number): string {
  const seconds = Math.abs(ms) / 1000;
  for (const [size, from, unit] of UNITS) {
    if (seconds >= size * from) return `${Math.round(seconds / size)} ${unit}`;
  }
  return `${seconds < 10 ? Number(seconds.toFixed(1)) : Math.round(seconds)} s`;
}

/** Formats a limit given in seconds: `30 s`, `5 min`, `1 h`. */
export function limit(seconds: number): string {
  if (seconds >= 3_600 && seconds % 3_600 === 0) return `${seconds / 3_600} h`;
  if (seconds >= 60 && seconds % 60 === 0) return `${seconds / 60} min`;
  return `${seconds} s`;
}
