/** Ports as users type them. */

/** Says what is wrong with a port to capture on; null if nothing is. */
export function portProblem(text: string): string | null {
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : NaN;
  if (!(port <= 65_535)) return 'A port is a number from 1 to 65535.';
  if (port === 0) return 'Providers need a fixed port: from 1 to 65535.';
  return port < 1024
    ? 'Ports below 1024 belong to the system on most machines. Choose one from 1024 to 65535.'
    : null;
}

/** Returns the port that a message mentions. */
export function portIn(message: string): number | null {
  const port = /\bport (\d{1,5})\b/i.exec(message)?.[1] ?? /:(\d{2,5})\b/.exec(message)?.[1];
  return port === undefined ? null : Number(port);
}

/** Suggests a port in place of one that is taken: not a near one, because other parts of hookmitt listen there. */
export function suggestedPort(taken: number): number {
  return taken + 100 <= 65_535 ? taken + 100 : taken - 100;
}
