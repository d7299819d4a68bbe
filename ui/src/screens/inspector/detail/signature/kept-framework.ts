const KEY = 'hookmitt.framework';

/** The framework whose fix was looked at last, of one's own choice. */
export function keptFramework(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // storage is off
  }
}

/** Keeps it for the next event. */
export function keepFramework(id: string): void {
  try {
    localStorage.setItem(KEY, id);
  } catch {
    // Storage is off: the guess is shown again.
  }
}
