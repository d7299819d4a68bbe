import { visible } from '../../../../format/words';

/** Text of several lines from strangers: what can't be seen is made visible, tabs and line feeds stay. */
export function visibleText(text: string): string {
  return text.replace(/[^\n\t]+/g, visible);
}
