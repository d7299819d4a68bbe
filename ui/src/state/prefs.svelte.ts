/** What a person chose about the look of this window; kept in this browser or window only. */
interface Kept {
  theme: 'system' | 'dark' | 'light';
  density: 'comfortable' | 'compact';
  /** Widths of panes by name. */
  sizes: Record<string, number>;
}

const KEY = 'hookmitt.look';
const first: Kept = { theme: 'system', density: 'comfortable', sizes: {} };

function read(): Kept {
  try {
    return { ...first, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Kept>) };
  } catch {
    return first; // storage is off or holds something else
  }
}

class Prefs {
  #kept = $state<Kept>(read());

  get theme(): Kept['theme'] {
    return this.#kept.theme;
  }
  set theme(theme: Kept['theme']) {
    this.#kept.theme = theme;
    this.#keep();
    this.apply();
  }

  get density(): Kept['density'] {
    return this.#kept.density;
  }
  set density(density: Kept['density']) {
    this.#kept.density = density;
    this.#keep();
  }

  /** The width of a pane that was kept, else `normal`. */
  size(name: string, normal: number): number {
    return this.#kept.sizes[name] ?? normal;
  }

  /** Keeps the width of a pane. */
  resize(name: string, size: number): void {
    this.#kept.sizes[name] = size;
    this.#keep();
  }

  /** Gives the page its theme, and follows the system where that is chosen. */
  apply(): void {
    const light = this.theme === 'light' || (this.theme === 'system' && systemLight.matches);
    document.documentElement.dataset['theme'] = light ? 'light' : 'dark';
  }

  #keep() {
    try {
      localStorage.setItem(KEY, JSON.stringify(this.#kept));
    } catch {
      // Storage is off: the choice lasts as long as the page.
    }
  }
}

const systemLight =
  typeof matchMedia === 'undefined'
    ? { matches: false, addEventListener: () => {} }
    : matchMedia('(prefers-color-scheme: light)');

export const prefs = new Prefs();
systemLight.addEventListener('change', () => prefs.apply());
