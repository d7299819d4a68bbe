import { visible } from '../../../../format/words';

/** Makes invisible characters in strangers' text visible; tabs and line feeds stay. */
export function visibleText(text: string): string {
  return text.replace(/[^\n\t]+/g, visible);
}
