import { ask, api } from '../api/client';
import type { Event, Source, Target } from '../api/shapes';
import { soon } from './soon';

/** The source of events that came for a source that isn't known here. */
export const UNASSIGNED = 'unassigned';

/** The sources and targets, and the addresses of the capture port. */
class Sources {
  list = $state.raw<Source[]>([]);
  targets = $state.raw<Target[]>([]);
  /** The capture port's base URLs; empty if this process does not capture. */
  capture = $state.raw<string[]>([]);

  #looking = false;
  #recognised = $state.raw<ReadonlyMap<string, string>>(new Map());

  /** Reads everything again soon. */
  readonly changed = soon(() => void this.read().catch(() => undefined), 100);

  /** Reads sources, targets and capture URLs. */
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

  /** Has hookmitt look whether somebody answers at the targets that are near, and takes over what it found. */
  async look(): Promise<void> {
    if (this.#looking || this.targets.length === 0) return;
    this.#looking = true;
    try {
      const found = await ask(api.GET('/api/targets', { params: { query: { look: true } } }));
      this.targets = found.items as Target[];
    } catch {
      // The states grow old, and say so.
    } finally {
      this.#looking = false;
    }
  }

  /** Returns a source's provider: the configured one, else that of its last event. */
  provider({ slug, provider }: Source): string | null {
    return provider ?? this.#recognised.get(slug) ?? null;
  }

  /** Notes the provider of an event that came in at a source. If the source is unknown, the sources are read again. */
  saw(slug: string, provider: string | null): void {
    if (!this.list.some((source) => source.slug === slug)) this.changed();
    if (!provider || this.#recognised.get(slug) === provider) return;
    this.#recognised = new Map(this.#recognised).set(slug, provider);
  }
}

/** Returns whether an event waits to be moved to a source. */
export function isUnassigned(event: Event): boolean {
  return event.source === UNASSIGNED && !event.deleted_at;
}

export const sources = new Sources();
