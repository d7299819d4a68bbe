import type { Outline, Term } from '../api/search';
import { type Filter, filterOf } from '../state/filter';
import { prefs } from '../state/prefs.svelte';
import { allEvents, route } from '../state/route.svelte';

const nothing: Outline = { terms: [], fault: null, marks: [], suggestions: null };

/** What the list is filtered by: the view or source of the left pane, and the search. All of it is in the route. */
class Search {
  /** The search that `#outline` is about. */
  #outlined = $state('');
  #outline = $state.raw<Outline>(nothing);

  /** The search as it is written. */
  get text(): string {
    return route.events.q ?? '';
  }

  /** All of it combined into one filter. */
  get filter(): Filter {
    return filterOf(route.events, prefs.repeats);
  }

  /** The search as hookmitt understands it; without terms as long as that is not known. */
  get outline(): Outline {
    return this.#outlined === this.text ? this.#outline : nothing;
  }

  /** The texts to mark in what was found, folded. */
  get marks(): readonly string[] {
    return this.outline.marks;
  }

  /** Whether every term is about the source or the time. */
  get isOfTime(): boolean {
    return (
      this.text === '' ||
      this.#each(({ key }) => ['source:', 'after:', 'before:'].includes(key?.toLowerCase() ?? ''))
    );
  }

  /** Whether a term, such as `verdict:` with `invalid`, lets only this value pass. */
  only(key: string, value: string): boolean {
    return this.outline.terms.some((term) => !term.negated && term.key === key && term.value === value);
  }

  /** Notes how a search is understood. An answer about another search than the current one comes too late. */
  learn(text: string, outline: Outline): void {
    if (text !== this.text) return;
    this.#outlined = text;
    this.#outline = outline;
  }

  /** Searches in the current view or source. */
  apply(text: string): void {
    if (text !== this.text) route.go({ ...route.events, q: text || null });
  }

  /** Searches among all events. */
  open(text: string): void {
    route.go({ ...allEvents, q: text || null });
  }

  /** Removes the search. */
  clear(): void {
    this.apply('');
  }

  #each(test: (term: Term) => boolean): boolean {
    const { terms } = this.outline;
    return terms.length > 0 && terms.every(test);
  }
}

export const search = new Search();
