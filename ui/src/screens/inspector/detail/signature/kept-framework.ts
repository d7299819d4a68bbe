const KEY = 'hookmitt.framework';

/** Returns the framework that the user last chose. */
export function keptFramework(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // storage is off
  }
}

/** Remembers the framework for the next event. */
export function keepFramework(id: string): void {
  try {
    localStorage.setItem(KEY, id);
  } catch {
    // Storage is off: the guessed framework is shown again.
  }
}
