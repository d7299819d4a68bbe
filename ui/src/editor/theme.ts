import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** Gives the editor the colours and fonts of the interface; the shadow root inherits the tokens. */
const look = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--bg)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    font: 'var(--mono-block)',
    fontVariantLigatures: 'none',
    fontFeatureSettings: '"zero"',
    scrollbarColor: 'var(--line-strong) transparent',
  },
  '.cm-content': { padding: '8px 20px 16px 0', caretColor: 'var(--accent)' },
  '.cm-line': { padding: '0 4px', unicodeBidi: 'plaintext' },
  '.cm-gutters': { color: 'var(--text-3)', backgroundColor: 'var(--bg)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '44px', padding: '0 4px 0 12px' },
  '.cm-foldGutter .cm-gutterElement': { width: '20px', padding: '0', textAlign: 'center', cursor: 'pointer' },
  '.cm-foldGutter .cm-gutterElement:hover': { color: 'var(--text)' },
  '.cm-chevron': { display: 'grid', placeItems: 'center', height: '20px' },
  '.cm-chevron svg': {
    fill: 'none',
    stroke: 'currentColor',
    strokeWidth: '1.75',
    strokeLinecap: 'round',
    strokeLinejoin: 'round',
  },
  '.cm-foldPlaceholder': {
    padding: '0 4px',
    color: 'var(--text-2)',
    backgroundColor: 'var(--fill)',
    border: 'none',
    borderRadius: '3px',
  },
  '.cm-unseen': { color: 'var(--warn)', textDecoration: 'underline dotted' },
  '.cm-end': { paddingLeft: '2px', color: 'var(--warn)', fontSize: '11px', userSelect: 'none' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-bg)', outline: '1px solid var(--warn)' },
  '.cm-searchMatch-selected': { color: 'var(--on-accent)', backgroundColor: 'var(--accent-fill)' },
  // As `mark` is elsewhere in the page; in a match, the colours of the syntax give way.
  '.cm-match': {
    color: 'var(--text)',
    backgroundColor: 'var(--mark)',
    borderRadius: '2px',
    textDecoration: 'underline var(--accent)',
    textUnderlineOffset: '2px',
  },
  '.cm-match[data-current]': { color: 'var(--on-accent)', backgroundColor: 'var(--accent-fill)' },
  '.cm-match *': { color: 'inherit' },
  '.cm-content ::selection, .cm-line::selection': { backgroundColor: 'var(--selected)' },
});

/** Styles the search panel as a second bar. */
const panel = EditorView.theme({
  '.cm-panels': { color: 'var(--text-2)', backgroundColor: 'var(--bg)', font: 'var(--small)' },
  '.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': {
    display: 'flex',
    flexWrap: 'wrap',
    alignItems: 'center',
    gap: '8px',
    padding: '6px 32px 6px 20px',
  },
  // “Select all matches” is useless in a read-only text.
  '.cm-panel.cm-search br, .cm-panel.cm-search [name=select], .cm-panel.cm-search label:has([name=word])': {
    display: 'none',
  },
  '.cm-panel.cm-search label': {
    display: 'inline-flex',
    alignItems: 'center',
    gap: '4px',
    margin: '0',
    fontSize: '12px',
  },
  '.cm-panel.cm-search input[type=checkbox]': {
    width: '14px',
    height: '14px',
    margin: '0',
    accentColor: 'var(--accent-fill)',
  },
  '.cm-panel.cm-search input, .cm-panel.cm-search button': { margin: '0' },
  '.cm-panel.cm-search [name=close]': {
    top: '6px',
    right: '16px',
    width: '24px',
    height: '24px',
    color: 'var(--text-2)',
    fontSize: '16px',
  },
  '.cm-textfield': {
    flex: '0 1 200px',
    minWidth: '80px',
    height: '24px',
    boxSizing: 'border-box',
    padding: '0 8px',
    color: 'var(--text)',
    backgroundColor: 'var(--bg)',
    border: '1px solid var(--control)',
    borderRadius: '6px',
    font: 'var(--mono-cell)',
  },
  '.cm-button': {
    height: '24px',
    padding: '0 8px',
    color: 'var(--text)',
    background: 'none',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    font: 'var(--small)',
  },
  '.cm-button:hover': { backgroundColor: 'var(--hover)' },
  '.cm-textfield:focus-visible, .cm-button:focus-visible, [name=close]:focus-visible, input:focus-visible': {
    outline: '2px solid var(--accent)',
    outlineOffset: '2px',
  },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-key)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.separator, tags.squareBracket, tags.brace, tags.punctuation], color: 'var(--code-mark)' },
]);

/** Look, search panel and colours. */
export const theme: Extension = [look, panel, syntaxHighlighting(colours)];
