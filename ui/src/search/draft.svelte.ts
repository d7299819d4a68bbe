import {
  type Fault,
  type Outline,
  outlineOf,
  type Suggestion,
  type Suggestions,
  type Term,
} from '../api/search';
import { prefs } from '../state/prefs.svelte';
import { joined } from './quote';
import { search } from './search.svelte';

/** A term of the search that is shown as a chip. */
export interface Chip extends Pick<Term, 'negated' | 'key' | 'value'> {
  /** The term as it was typed. */
  text: string;
}

/** How long a pause in typing has to be before hookmitt is asked, in milliseconds. */
const PAUSE = 60;

/** The search field: terms as chips, and behind them the text that is being typed. */
export class Draft {
  chips = $state.raw<readonly Chip[]>([]);
  typed = $state('');
  /** What is wrong with the typed text, with its columns in it. */
  fault = $state.raw<Fault | null>(null);
  suggestions = $state.raw<Suggestions | null>(null);

  /** The search that the list shows, as far as it is known here. */
  #applied = '';
  /** The text to which the suggestions belong. */
  #suggestedFor = $state('');
  #asking = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Shows a search that was applied elsewhere: its terms as chips, or as text if it can't be understood. */
  async show(text: string): Promise<void> {
    if (text === this.#applied) return;
    this.#applied = text;
    const signal = this.#next();
    const outline = text === '' ? null : await this.#ask(text, text.length, signal);
    if (signal.aborted) return;
    this.suggestions = null;
    const isWhole = text === '' || (outline !== null && outline.fault === null);
    this.chips = isWhole && outline ? chipsOf(text, outline.terms) : [];
    this.typed = isWhole ? '' : text;
    this.fault = outline?.fault ?? null;
    if (outline) search.learn(text, outline);
  }

  /**
   * Takes the text that is typed, with the caret at a column of it. After a pause, hookmitt is asked how to go on. Terms
   * that a space ends become chips.
   */
  type(text: string, caret: number): void {
    this.typed = text;
    this.fault = null;
    const signal = this.#next();
    this.#timer = setTimeout(() => void this.#understand(caret, signal), PAUSE);
  }

  /** Asks at once what could follow. */
  suggest(caret: number): void {
    void this.#understand(caret, this.#next());
  }

  /** Applies all that was typed. Returns whether it is without a fault. */
  async enter(): Promise<boolean> {
    const done = await this.#settle();
    if (done && search.text) prefs.remember(search.text);
    return done;
  }

  /** Puts a suggestion in the place of what it completes. Returns the column at which the caret belongs then. */
  accept({ text }: Suggestion): number {
    const [from, to] = this.#completed;
    const isOpen = /[:.]$/.test(text); // a value is to follow
    const left = this.typed.slice(0, from) + text + (isOpen ? '' : ' ');
    const caret = left.length;
    this.typed = left + this.typed.slice(to).trimStart();
    this.suggest(caret);
    return caret;
  }

  /** Removes a chip. */
  remove(chip: Chip): void {
    this.chips = this.chips.filter((one) => one !== chip);
    this.#apply();
  }

  /** Turns the last chip back into text. */
  unpick(): void {
    const last = this.chips.at(-1);
    if (!last) return;
    this.chips = this.chips.slice(0, -1);
    this.typed = last.text;
    this.#apply();
    this.suggest(this.typed.length);
  }

  /** Drops what is typed. */
  drop(): void {
    this.#next();
    this.typed = '';
    this.fault = null;
    this.suggestions = null;
  }

  /** Drops everything. */
  clear(): void {
    this.drop();
    this.chips = [];
    this.#apply();
  }

  /** The chips as text. */
  get #settled(): string {
    return joined(...this.chips.map(({ text }) => text));
  }

  /** What stands before the typed text. */
  get #before(): string {
    return this.chips.length > 0 ? `${this.#settled} ` : '';
  }

  /** What can be picked now. Until hookmitt was asked about the typed text, those that begin as its last word does. */
  get offered(): Suggestions | null {
    const { suggestions } = this;
    if (!suggestions || this.#suggestedFor === this.#before + this.typed) return suggestions;
    const word = (/\S*$/.exec(this.typed)?.[0] ?? '').toLowerCase();
    return {
      ...suggestions,
      items: suggestions.items.filter(({ text }) => text.toLowerCase().startsWith(word)),
    };
  }

  /** The part of the typed text that a suggestion replaces: its last word, if hookmitt was not asked about it yet. */
  get #completed(): [from: number, to: number] {
    const before = this.#before;
    if (!this.suggestions || this.#suggestedFor !== before + this.typed)
      return [this.typed.search(/\S*$/), this.typed.length];
    const { start, end } = this.suggestions;
    return [Math.max(0, start - before.length), Math.max(0, end - before.length)];
  }

  #next(): AbortSignal {
    clearTimeout(this.#timer);
    this.#asking.abort();
    this.#asking = new AbortController();
    return this.#asking.signal;
  }

  async #ask(text: string, caret: number, signal?: AbortSignal): Promise<Outline | null> {
    return outlineOf(text, caret, signal).catch(() => null);
  }

  async #understand(caret: number, signal: AbortSignal) {
    const [before, typed] = [this.#before, this.typed];
    const outline = await this.#ask(before + typed, before.length + caret, signal);
    if (!outline || signal.aborted) return;
    this.suggestions = outline.suggestions;
    this.#suggestedFor = before + typed;
    const ended = /\s$/.test(typed) && caret === typed.length;
    if (ended && outline.fault && outline.fault.end <= (before + typed).trimEnd().length)
      this.#blame(outline.fault);
    if (ended && isWhole(outline, before + typed)) this.#use(before + typed, outline);
  }

  /** Turns all that is typed into chips, unless it has a fault. */
  async #settle(): Promise<boolean> {
    const text = this.#before + this.typed.trimEnd();
    const signal = this.#next();
    const outline = await this.#ask(text, text.length, signal);
    if (signal.aborted) return false;
    if (outline?.fault) this.#blame(outline.fault);
    if (outline?.fault) return false;
    if (outline) this.#use(text, outline);
    else search.apply(text.trim()); // the list says why it can't be read
    return true;
  }

  #use(text: string, outline: Outline) {
    this.chips = chipsOf(text, outline.terms);
    this.typed = '';
    this.fault = null;
    this.#apply(outline);
  }

  /** Has the list show what the chips ask for. */
  #apply(known?: Outline) {
    const text = this.#settled;
    this.#applied = text;
    search.apply(text);
    if (known) return search.learn(text, known);
    void this.#ask(text, text.length).then((outline) => outline && search.learn(text, outline));
  }

  #blame(fault: Fault) {
    const before = this.#before.length;
    const start = Math.max(0, fault.start - before);
    this.fault = { ...fault, start, end: Math.max(start + 1, fault.end - before) };
  }
}

/** Whether the last term is ended by the space at the end of the text, and not by a quote that is still open. */
function isWhole({ terms, fault }: Outline, text: string): boolean {
  const last = terms.at(-1);
  return fault === null && last !== undefined && last.end <= text.trimEnd().length;
}

function chipsOf(text: string, terms: readonly Term[]): Chip[] {
  return terms.map(({ start, end, negated, key, value }) => ({
    negated,
    key,
    value,
    text: text.slice(start, end),
  }));
}
