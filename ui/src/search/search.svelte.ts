import type { View } from '../api/shapes';
import { filterOf, type Token } from './tokens';
import type { Filter } from '../state/filter';
import { route } from '../state/route.svelte';

/** What the list is asked for: the view or source of the left pane, and the tokens of the search. */
class Search {
  tokens = $state.raw<readonly Token[]>([]);

  /** All of it as one filter. */
  get filter(): Filter {
    const { view, source } = route.events;
    const filter: Filter = {};
    if (view) filter.view = view as View;
    if (source) filter.source = source;
    return { ...filter, ...filterOf(this.tokens) };
  }

  /** Asks for more; a token takes the place of one with the same name. */
  add(tokens: readonly Token[]): void {
    const named = new Map([...this.tokens, ...tokens].map((token) => [token.name, token]));
    this.tokens = [...named.values()];
  }

  /** Asks for that no more. */
  remove(token: Token): void {
    this.tokens = this.tokens.filter((one) => one !== token);
  }

  /** Forgets the tokens. */
  clear(): void {
    this.tokens = [];
  }
}

export const search = new Search();
