import { countOf, type Found } from '../api/search';
import type { Filter } from '../state/filter';
import { soon } from '../state/soon';

/** How often the same is counted again at most, in milliseconds. */
const CALM = 5_000;

/** How many events the current search finds. The list never waits for it. */
export class Tally {
  found = $state.raw<Found | null>(null);
  #filter: Filter = {};
  #asked = '';
  #counting = new AbortController();
  #again = soon(() => void this.#count(), CALM);

  /** Counts what passes a filter: at once if it is another one, else soon. */
  want(filter: Filter): void {
    const asked = JSON.stringify(filter);
    if (asked === this.#asked) return this.#again();
    [this.#asked, this.#filter] = [asked, filter];
    this.found = null;
    void this.#count();
  }

  /** Ends what is being counted. */
  close(): void {
    this.#counting.abort();
    this.#asked = '';
  }

  async #count() {
    this.#counting.abort();
    const { signal } = (this.#counting = new AbortController());
    const found = await countOf(this.#filter, signal).catch(() => null);
    if (found && !signal.aborted) this.found = found;
  }
}
