import { visible } from '../../../../format/words';

const MARKS: Record<string, string> = { ' ': '·', '\n': '⏎', '\t': '→', '\r': '␍' };

/** Text of a body as a comparison draws it: changed white space has marks, the rest is as it is. */
export function shownBytes(text: string, changed: boolean): string {
  if (changed) return text.replace(/[ \n\t\r]|[^ \n\t\r]+/g, (piece) => MARKS[piece] ?? visible(piece));
  return text.replace(/\r?\n/g, '').replace(/[^\t]+/g, visible);
}
