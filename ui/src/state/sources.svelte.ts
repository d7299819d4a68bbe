import { ask, api } from '../api/client';
import type { Source, Target } from '../api/shapes';
import { soon } from './soon';

/** Where events come from and go to, and where they are caught. */
class Sources {
  list = $state.raw<Source[]>([]);
  targets = $state.raw<Target[]>([]);
  /** The capture port by each of its addresses; none where this process has none. */
  capture = $state.raw<string[]>([]);

  #recognised = $state.raw<ReadonlyMap<string, string>>(new Map());

  /** Reads them again soon. */
  readonly changed = soon(() => void this.read().catch(() => undefined), 100);

  /** Reads them. */
  async read(): Promise<void> {
    const [sources, targets, urls] = await Promise.all([
      ask(api.GET('/api/sources')),
      ask(api.GET('/api/targets')),
      ask(api.GET('/api/urls')),
    ]);
    this.list = sources.items as Source[];
    this.targets = targets.items as Target[];
    this.capture = urls.capture;
  }

  /** The provider of a source: the one that was set, else that of its last event. */
  provider({ slug, provider }: Source): string | null {
    return provider ?? this.#recognised.get(slug) ?? null;
  }

  /** Notes whose event came in there. A source that is not known yet is read. */
  saw(slug: string, provider: string | null): void {
    if (!this.list.some((source) => source.slug === slug)) this.changed();
    if (!provider || this.#recognised.get(slug) === provider) return;
    this.#recognised = new Map(this.#recognised).set(slug, provider);
  }
}

export const sources = new Sources();
