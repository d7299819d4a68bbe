const KEY = 'hookmitt.replay-to';

/** Returns the URL of the last replay to a URL. */
export function lastUrl(): string {
  try {
    return localStorage.getItem(KEY) ?? '';
  } catch {
    return ''; // storage is off
  }
}

/** Remembers a URL for the next replay. */
export function rememberUrl(url: string): void {
  try {
    localStorage.setItem(KEY, url);
  } catch {
    // Storage is off: the user has to type the URL again.
  }
}
