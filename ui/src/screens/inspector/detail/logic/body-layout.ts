import type { BodyText } from './body-kind';
import { isJson, prettyJson } from './pretty-json';

/** The views of a body. */
export type Form = 'pretty' | 'raw' | 'hex';

/** What a view shows of a body. */
export interface Layout {
  /** Text in the editor, the fields of a form, or bytes in hex. */
  as: 'text' | 'fields' | 'hex';
  text: string;
  language: 'json' | 'text';
  /** A note for the user about this view. */
  note: string | null;
}

/** The length in characters above which a text is not reformatted. */
const MOST = 4_000_000;

/** Lays out the loaded part of a body. `whole` is false if more bytes follow. */
export function layoutOf({ kind, text, broken }: BodyText, form: Form, whole: boolean): Layout {
  if (form === 'hex') return { as: 'hex', text: '', language: 'text', note: null };
  const note = broken ? 'Not UTF-8: bytes that aren’t text are shown as �. Hex shows them all.' : null;
  const fits = text.length <= MOST;
  const shown: Layout = { as: 'text', text, language: kind === 'json' && fits ? 'json' : 'text', note };
  if (form === 'raw') return { ...shown, language: 'text' }; // neither colours nor folds
  if (kind === 'form') return { ...shown, as: 'fields' };
  if (kind !== 'json') return shown;
  if (!fits) return { ...shown, note: note ?? 'Too large to format, so it is shown as received.' };
  if (whole && !isJson(text))
    return { ...shown, note: note ?? 'Not valid JSON, so it is shown as received.' };
  return { ...shown, text: prettyJson(text) };
}
