import { RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from '@codemirror/view';

/** Sets the labels shown at the ends of the lines, in order. */
export const setLineEnds = StateEffect.define<readonly string[]>();

/** Returns a label for each line end of a text; lines are split by the editor's own rule. */
export function lineEnds(text: string): string[] {
  return Array.from(text.matchAll(/\r\n?|\n/g), ([end]) => PICTURES[end] ?? end);
}

const PICTURES: Record<string, string> = { '\n': '⏎', '\r\n': 'CR⏎', '\r': 'CR' };

const ends = StateField.define<readonly string[]>({
  create: () => [],
  update: (value, { effects }) => effects.findLast((effect) => effect.is(setLineEnds))?.value ?? value,
});

class End extends WidgetType {
  constructor(readonly picture: string) {
    super();
  }

  override eq(other: End): boolean {
    return other.picture === this.picture;
  }

  override toDOM(): HTMLElement {
    const mark = document.createElement('span');
    mark.className = 'cm-end';
    mark.textContent = this.picture;
    mark.setAttribute('aria-hidden', 'true');
    return mark;
  }
}

function visibleEnds(view: EditorView): DecorationSet {
  const known = view.state.field(ends);
  const builder = new RangeSetBuilder<Decoration>();
  if (known.length === 0) return builder.finish();
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to;) {
      const line = view.state.doc.lineAt(at);
      const picture = known[line.number - 1];
      if (picture) builder.add(line.to, line.to, Decoration.widget({ widget: new End(picture), side: 1 }));
      at = line.to + 1;
    }
  }
  return builder.finish();
}

const drawn = ViewPlugin.define(
  (view) => ({
    ends: visibleEnds(view),
    update({ view: updated, docChanged, viewportChanged, transactions }: ViewUpdate) {
      const set = transactions.some(({ effects }) => effects.some((effect) => effect.is(setLineEnds)));
      if (docChanged || viewportChanged || set) this.ends = visibleEnds(updated);
    },
  }),
  { decorations: (plugin) => plugin.ends },
);

/** Shows line ends as widgets, so that they can't be mistaken for part of the text. */
export const showsLineEnds = [ends, drawn];
