/** The catalogue's providers as choices. */

/** The parts of a provider that a choice needs. */
export interface Named {
  id: string;
  name: string;
}

/** How many providers are shown before the list of all others. */
export const FIRST = 5;

/** Returns the first providers; if the chosen one is not among them, it takes the last place. */
export function offered<P extends Named>(providers: readonly P[], chosen: string | null, count = FIRST): P[] {
  const first = providers.slice(0, count);
  const other = providers.find((provider) => provider.id === chosen);
  if (other === undefined || first.includes(other)) return first;
  return [...first.slice(0, count - 1), other];
}

/** Returns the providers whose name or id contains every word; those whose name starts with the text come first. */
export function found<P extends Named>(providers: readonly P[], text: string): P[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (provider: P) => words.every((word) => haystack(provider).includes(word));
  const start = words.join(' ');
  const rank = (provider: P) => (provider.name.toLowerCase().startsWith(start) ? 0 : 1);
  return providers.filter(holds).sort((one, other) => rank(one) - rank(other));
}

/** One line of the list of providers. */
export interface Choice {
  /** The value of the choice. */
  value: string;
  name: string;
  /** The provider whose logo stands before it; null for “no provider”. */
  mark: string | null;
}

export function asChoice({ id, name }: Named): Choice {
  return { value: id, name, mark: id };
}

/** Returns a provider's name, or its id if the catalogue doesn't contain it. */
export function nameOf(providers: readonly Named[], id: string): string {
  return providers.find((provider) => provider.id === id)?.name ?? id;
}

function haystack(provider: Named): string {
  return `${provider.name} ${provider.id}`.toLowerCase();
}
