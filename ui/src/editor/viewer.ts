import { selectAll } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { codeFolding, foldGutter, foldKeymap } from '@codemirror/language';
import {
  findNext,
  findPrevious,
  openSearchPanel,
  search,
  searchKeymap,
  searchPanelOpen,
} from '@codemirror/search';
import { Compartment, EditorState, type Extension, type StateEffect } from '@codemirror/state';
import { EditorView, highlightSpecialChars, type KeyBinding, keymap, lineNumbers } from '@codemirror/view';

import { visible } from '../format/words';
import { lineEnds, setLineEnds, showsLineEnds } from './line-ends';
import { MatchMarks, type Matches, showsMatches } from './match-marks';
import { theme } from './theme';

/** The text's language; anything but JSON is plain text. */
export type Language = 'json' | 'text';

/** A read-only view of a text. */
export interface Viewer {
  /** Shows a text. If it continues the text shown before, the scroll position and the folds are kept. */
  show(text: string, language: Language, withLineEnds: boolean): void;
  find(): void;
  /** Marks what matches one of the folded `marks` in the text that is shown. */
  mark(marks: readonly string[]): Matches;
  /** Goes to the next (1) or the previous (-1) match. */
  step(by: 1 | -1): Matches;
  destroy(): void;
}

const SVG = 'http://www.w3.org/2000/svg';

/** The search panel's words, in sentence case. */
const PHRASES = {
  next: 'Next',
  previous: 'Previous',
  'match case': 'Match case',
  regexp: 'Regexp',
  close: 'Close',
};

/** F3 goes through what was sought here; until something is, it goes through the matches of the page's search. */
const searchKeys: KeyBinding[] = [
  ...searchKeymap.filter(({ key }) => key !== 'F3'),
  {
    key: 'F3',
    run: (view) => searchPanelOpen(view.state) && findNext(view),
    shift: (view) => searchPanelOpen(view.state) && findPrevious(view),
  },
];

/** Bidi controls and other invisible characters that CodeMirror doesn't mark by itself. */
const MORE_UNSEEN = /[\u180e\u200c\u200d\u202a-\u202c\u2060-\u2065\u2068\u206a-\u206f]/gu;

/**
 * Builds a viewer inside `host`. It lives in a shadow root, because there CodeMirror adopts its style sheet instead of
 * inserting a style element, which the page's policy (`style-src 'self'`) forbids.
 */
export function createViewer(host: HTMLElement, label: string): Viewer {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  root.replaceChildren();
  host.addEventListener('keydown', keepKeys);
  const language = new Compartment();
  const state = EditorState.create({ extensions: [reading(label), language.of([])] });
  const view = new EditorView({ state, root, parent: root });
  const matches = new MatchMarks(view);
  let shown: { text: string; language: Language } = { text: '', language: 'text' };
  return {
    show(text, next, withLineEnds) {
      const effects: StateEffect<unknown>[] = [setLineEnds.of(withLineEnds ? lineEnds(text) : [])];
      if (next !== shown.language) effects.push(language.reconfigure(next === 'json' ? json() : []));
      view.dispatch({ changes: changeTo(view.state.doc.length, shown.text, text), effects });
      shown = { text, language: next };
    },
    mark: (marks) => matches.mark(marks),
    step: (by) => matches.step(by),
    find() {
      openSearchPanel(view);
    },
    destroy() {
      host.removeEventListener('keydown', keepKeys);
      view.destroy();
    },
  };
}

/** Keeps keys typed into the search field from being shortcuts: outside the shadow root the host is their target. */
function keepKeys(event: KeyboardEvent): void {
  const [target] = event.composedPath();
  if (target instanceof HTMLInputElement && target.type !== 'checkbox') event.stopPropagation();
}

/** Returns the change from `before` (`length` long in the editor) to `after`; after a cut CRLF it replaces the text. */
function changeTo(length: number, before: string, after: string) {
  const continues = after.startsWith(before) && !before.endsWith('\r');
  return continues
    ? { from: length, insert: after.slice(before.length) }
    : { from: 0, to: length, insert: after };
}

function reading(label: string): Extension {
  return [
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label, 'aria-readonly': 'true' }),
    EditorView.lineWrapping,
    lineNumbers(),
    codeFolding(),
    foldGutter({ markerDOM: chevron }),
    highlightSpecialChars({ addSpecialChars: MORE_UNSEEN, render: unseen }),
    showsLineEnds,
    search({ top: true }),
    EditorState.phrases.of(PHRASES),
    showsMatches,
    keymap.of([...searchKeys, ...foldKeymap, { key: 'Mod-a', run: selectAll }]),
    theme,
  ];
}

function unseen(code: number): HTMLElement {
  const mark = document.createElement('span');
  mark.className = 'cm-unseen';
  mark.textContent = visible(String.fromCodePoint(code));
  return mark;
}

/** Draws the fold marker: it points down if the range is open, right if it is folded. */
function chevron(open: boolean): HTMLElement {
  const mark = document.createElement('span');
  mark.className = 'cm-chevron';
  mark.title = open ? 'Fold' : 'Unfold';
  const drawing = document.createElementNS(SVG, 'svg');
  for (const [name, value] of Object.entries({ viewBox: '0 0 24 24', width: '14', height: '14' })) {
    drawing.setAttribute(name, value);
  }
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', open ? 'm6 9 6 6 6-6' : 'm9 18 6-6-6-6');
  drawing.append(path);
  mark.append(drawing);
  return mark;
}
