/** The catalogue's providers as they are offered. */

/** What the choice needs of a provider. */
export interface Named {
  id: string;
  name: string;
}

/** How many are shown before the list of the others. */
export const FIRST = 5;

/** The first ones, with the chosen one in the last place where it would not be among them. */
export function offered<P extends Named>(providers: readonly P[], chosen: string | null, count = FIRST): P[] {
  const first = providers.slice(0, count);
  const other = providers.find((provider) => provider.id === chosen);
  if (other === undefined || first.includes(other)) return first;
  return [...first.slice(0, count - 1), other];
}

/** Those whose name or id holds every word, the ones that start with the text before the others. */
export function found<P extends Named>(providers: readonly P[], text: string): P[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (provider: P) => words.every((word) => haystack(provider).includes(word));
  const start = words.join(' ');
  const rank = (provider: P) => (provider.name.toLowerCase().startsWith(start) ? 0 : 1);
  return providers.filter(holds).sort((one, other) => rank(one) - rank(other));
}

/** One line of the list that a provider is chosen from. */
export interface Choice {
  /** The value that is picked. */
  value: string;
  name: string;
  /** Whose mark stands before it; none for “no provider”. */
  mark: string | null;
}

export function asChoice({ id, name }: Named): Choice {
  return { value: id, name, mark: id };
}

/** A provider's name, or its id where the catalogue doesn't have it. */
export function nameOf(providers: readonly Named[], id: string): string {
  return providers.find((provider) => provider.id === id)?.name ?? id;
}

function haystack(provider: Named): string {
  return `${provider.name} ${provider.id}`.toLowerCase();
}
