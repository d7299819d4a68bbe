import { visible } from '../../../../format/words';

const MARKS: Record<string, string> = { ' ': '·', '\n': '⏎', '\t': '→', '\r': '␍' };

/** Returns a piece of a body as a comparison shows it: changed white space becomes visible marks. */
export function shownBytes(text: string, changed: boolean): string {
  if (changed) return text.replace(/[ \n\t\r]|[^ \n\t\r]+/g, (piece) => MARKS[piece] ?? visible(piece));
  return text.replace(/\r?\n/g, '').replace(/[^\t]+/g, visible);
}
