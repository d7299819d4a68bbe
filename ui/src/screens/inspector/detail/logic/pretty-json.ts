import { tokens } from './json-tokens';

/** The deepest indentation, because 100,000 brackets in a row must not produce gigabytes of spaces. */
const DEEPEST = 40;

/**
 * Formats JSON with one value per line. Only white space changes: numbers, escapes, order and repeated keys stay as
 * they were sent. Text that is cut off is formatted as far as it goes.
 */
export function prettyJson(text: string): string {
  const out: string[] = [];
  let depth = 0;
  let opened = false;
  let ended = false;
  const line = () => out.push('\n', '  '.repeat(Math.min(depth, DEEPEST)));
  for (const token of tokens(text)) {
    if (token.kind === 'space') continue;
    const closes = token.text === '}' || token.text === ']';
    if (closes) {
      depth = Math.max(0, depth - 1);
      if (!opened) line();
    } else if (opened || (ended && depth === 0 && token.text !== ',' && token.text !== ':')) line();
    out.push(token.text);
    opened = token.text === '{' || token.text === '[';
    ended = !opened && token.text !== ',' && token.text !== ':';
    if (opened) depth++;
    else if (token.text === ',') line();
    else if (token.text === ':') out.push(' ');
  }
  return out.join('');
}

/** Whether the whole text is one JSON value. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
