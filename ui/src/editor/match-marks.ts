import { foldedRanges, unfoldEffect } from '@codemirror/language';
import { EditorSelection, type Extension, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';

import { matchesIn, type Range } from '../search/marks';

/** The most matches that are marked. */
const MOST = 5_000;

/** Which of the matches is the current one, counted from 1; null if none is. */
export interface Matches {
  at: number | null;
  of: number;
}

const marked = Decoration.mark({ class: 'cm-match', tagName: 'mark' });
const current = Decoration.mark({
  class: 'cm-match',
  tagName: 'mark',
  attributes: { 'data-current': '' },
});

const setMarks = StateEffect.define<DecorationSet>();

const shown = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { changes, effects }) {
    const set = effects.find((effect) => effect.is(setMarks));
    return set ? (set.value as DecorationSet) : marks.map(changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Lets a view mark the matches of a search. */
export const showsMatches: Extension = shown;

/** The matches of a search in a view. */
export class MatchMarks {
  #ranges: Range[] = [];
  #at = -1;
  readonly #view: EditorView;

  constructor(view: EditorView) {
    this.#view = view;
  }

  /** Marks what matches one of the folded `marks`. */
  mark(marks: readonly string[]): Matches {
    if (marks.length === 0 && this.#ranges.length === 0) return this.#matches();
    this.#ranges = matchesIn(this.#view.state.doc.toString(), marks, MOST);
    this.#at = -1;
    this.#view.dispatch({ effects: setMarks.of(this.#decorations()) });
    return this.#matches();
  }

  /** Goes to the next (1) or the previous (-1) match; after the last comes the first. */
  step(by: 1 | -1): Matches {
    const count = this.#ranges.length;
    if (count === 0) return this.#matches();
    this.#at = this.#at < 0 && by < 0 ? count - 1 : (this.#at + by + count) % count;
    const { from, to } = this.#ranges[this.#at]!;
    const place = EditorView.scrollIntoView(EditorSelection.range(from, to), { y: 'center' });
    this.#view.dispatch({
      effects: [setMarks.of(this.#decorations()), ...this.#unfoldings(from, to), place],
    });
    return this.#matches();
  }

  #matches(): Matches {
    return { at: this.#at < 0 ? null : this.#at + 1, of: this.#ranges.length };
  }

  #decorations(): DecorationSet {
    return Decoration.set(
      this.#ranges.map(({ from, to }, n) => (n === this.#at ? current : marked).range(from, to)),
    );
  }

  /** What is folded away around a match comes out. */
  #unfoldings(from: number, to: number): StateEffect<unknown>[] {
    const effects: StateEffect<unknown>[] = [];
    foldedRanges(this.#view.state).between(from, to, (start, end) => {
      effects.push(unfoldEffect.of({ from: start, to: end }));
    });
    return effects;
  }
}
