/** What the user chose about the look of this window; stored in this browser or window only. */
export interface Kept {
  theme: 'system' | 'dark' | 'light';
  density: 'comfortable' | 'compact';
  /** Whether repeats are folded away beneath their first event. */
  repeats: 'folded' | 'listed';
  /** The widths of panes by name. */
  sizes: Record<string, number>;
  /** The last searches, newest first. */
  searches: string[];
}

const KEY = 'hookmitt.look';
const first: Kept = { theme: 'system', density: 'comfortable', repeats: 'folded', sizes: {}, searches: [] };

/** Returns what was stored, and what nobody chose as it is at first. */
export function read(): Kept {
  try {
    return { ...first, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Kept>) };
  } catch {
    return first; // storage is off or holds something else
  }
}

/** Stores it. */
export function keep(kept: Kept): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Storage is off: the choice lasts until the page closes.
  }
}
