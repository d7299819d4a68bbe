/** What choosing a provider and naming a source do on the first screen. */

/** The source that the screen is about. */
export interface Now {
  slug: string;
  /** Somebody typed that name: it stays whatever is chosen. */
  typed: boolean;
  /** The source that this screen made and that holds nothing yet; it goes when another takes its place. */
  fresh: string | null;
}

/** A source as far as it matters here. */
interface Known {
  slug: string;
  provider?: string | null;
}

/** What has to be done: the source to be at, made or changed before, and one that is no longer wanted. */
export interface Move {
  slug: string;
  todo: 'add' | 'change' | 'nothing';
  remove: string | null;
}

/** The source for a provider: one that has it, the one that was named, or a new one called like the provider. */
export function moveFor(now: Now, provider: string, wanted: string, sources: readonly Known[]): Move {
  const slug = now.typed ? now.slug : slugOf(provider, wanted, sources);
  const known = sources.find((source) => source.slug === slug);
  const todo = known === undefined ? 'add' : known.provider === provider ? 'nothing' : 'change';
  return { slug, todo, remove: now.fresh === slug ? null : now.fresh };
}

/** The source under another name: a fresh one moves there, any other stays what it is. */
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
