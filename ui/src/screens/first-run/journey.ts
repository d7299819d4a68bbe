/** Decides what choosing a provider and naming a source do on the first screen. */

/** The source that the screen sets up. */
export interface Now {
  slug: string;
  /** Somebody typed the name, so it stays whatever provider is chosen. */
  typed: boolean;
  /** The source that this screen created and that is still empty; it is removed when another takes its place. */
  fresh: string | null;
}

/** The parts of a source that matter here. */
interface Known {
  slug: string;
  provider?: string | null;
}

/** What to do: the source to show, whether to add or change it first, and a source to remove. */
export interface Move {
  slug: string;
  todo: 'add' | 'change' | 'nothing';
  remove: string | null;
}

/** Finds a provider's source: the typed name, else the first of `wanted`, `wanted-2`, … that fits the provider. */
export function moveFor(now: Now, provider: string, wanted: string, sources: readonly Known[]): Move {
  const slug = now.typed ? now.slug : slugOf(provider, wanted, sources);
  const known = sources.find((source) => source.slug === slug);
  const todo = known === undefined ? 'add' : known.provider === provider ? 'nothing' : 'change';
  return { slug, todo, remove: now.fresh === slug ? null : now.fresh };
}

/** Renames the source: an empty new source is replaced by one with that name, any other source stays. */
export function renamed(now: Now, slug: string, sources: readonly Known[]): Move {
  const exists = sources.some((source) => source.slug === slug);
  const moves = now.fresh !== null && now.fresh !== slug;
  return { slug, todo: moves && !exists ? 'add' : 'nothing', remove: moves ? now.fresh : null };
}

function slugOf(provider: string, wanted: string, sources: readonly Known[]): string {
  let slug = wanted;
  const fits = (source: Known | undefined) => (source?.provider ?? provider) === provider;
  for (let number = 2; !fits(sources.find((source) => source.slug === slug)); number += 1)
    slug = `${wanted}-${number}`;
  return slug;
}
