import type { View } from '../api/shapes';
import { filterOf, type Token } from './tokens';
import type { Filter } from '../state/filter';
import { prefs } from '../state/prefs.svelte';
import { route } from '../state/route.svelte';

/** What the list is filtered by: the view or source of the left pane, and the tokens of the search. */
class Search {
  tokens = $state.raw<readonly Token[]>([]);

  /** Both combined into one filter. */
  get filter(): Filter {
    const { view, source } = route.events;
    const filter: Filter = {};
    if (view) filter.view = view as View;
    if (source) filter.source = source;
    if (!view && prefs.repeats === 'folded') filter.fold = true; // in a view, each event needs attention
    return { ...filter, ...filterOf(this.tokens) };
  }

  /** Adds tokens; each replaces the token that has the same name. */
  add(tokens: readonly Token[]): void {
    const named = new Map([...this.tokens, ...tokens].map((token) => [token.name, token]));
    this.tokens = [...named.values()];
  }

  /** Removes a token. */
  remove(token: Token): void {
    this.tokens = this.tokens.filter((one) => one !== token);
  }

  /** Removes all tokens. */
  clear(): void {
    this.tokens = [];
  }
}

export const search = new Search();
