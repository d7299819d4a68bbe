const KEY = 'hookmitt.replay-to';

/** The URL of the last replay to a URL. */
export function lastUrl(): string {
  try {
    return localStorage.getItem(KEY) ?? '';
  } catch {
    return ''; // storage is off
  }
}

/** Keeps it for the next time. */
export function rememberUrl(url: string): void {
  try {
    localStorage.setItem(KEY, url);
  } catch {
    // Storage is off: it is asked for again.
  }
}
