import { keep, type Kept, read } from './kept';

/** How many searches are kept. */
const RECENT = 10;

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

  get repeats(): Kept['repeats'] {
    return this.#kept.repeats;
  }
  set repeats(repeats: Kept['repeats']) {
    this.#kept.repeats = repeats;
    this.#keep();
  }

  /** Returns the stored width of a pane, or `normal` if there is none. */
  size(name: string, normal: number): number {
    return this.#kept.sizes[name] ?? normal;
  }

  /** Stores the width of a pane. */
  resize(name: string, size: number): void {
    this.#kept.sizes[name] = size;
    this.#keep();
  }

  /** The last searches, newest first. */
  get searches(): readonly string[] {
    return this.#kept.searches;
  }

  /** Keeps a search as the newest. A search that it continues is replaced. */
  remember(search: string): void {
    const others = this.#kept.searches.filter((one) => one !== search);
    if (others[0] !== undefined && search.startsWith(`${others[0]} `)) others.shift();
    this.#kept.searches = [search, ...others].slice(0, RECENT);
    this.#keep();
  }

  /** Applies the theme to the page; the theme `system` takes the system's. */
  apply(): void {
    const light = this.theme === 'light' || (this.theme === 'system' && systemLight.matches);
    document.documentElement.dataset['theme'] = light ? 'light' : 'dark';
  }

  #keep() {
    keep(this.#kept);
  }
}

const systemLight =
  typeof matchMedia === 'undefined'
    ? { matches: false, addEventListener: () => {} }
    : matchMedia('(prefers-color-scheme: light)');

export const prefs = new Prefs();
systemLight.addEventListener('change', () => prefs.apply());
