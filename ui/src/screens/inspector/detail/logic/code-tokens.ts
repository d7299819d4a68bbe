/** A piece of a code snippet, with its kind. */
export interface CodeToken {
  kind: 'keyword' | 'string' | 'comment' | 'number' | 'plain';
  text: string;
}

const WORDS =
  'and as class const def else export extends fn for from func function if import in let mut namespace new not or package private public return self static struct this type use using val var void when where while with';
const KEYWORDS = new Set(WORDS.split(' '));
const PIECE =
  /(\/\/.*|(?<=^|\s)#(?= ).*|<!--.*?-->)|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`[^`]*`?)|([A-Za-z_$][\w$]*)|(\d[\d_.]*)|[^]/g;

/** Splits a line of code: enough to tell keywords, strings and comments apart in all languages of the fixes. */
export function codeTokens(line: string): CodeToken[] {
  const made: CodeToken[] = [];
  for (const match of line.matchAll(PIECE)) {
    const kind = kindOf(match, line);
    const last = made.at(-1);
    if (last?.kind === kind) last.text += match[0];
    else made.push({ kind, text: match[0] });
  }
  return made;
}

function kindOf(match: RegExpExecArray, line: string): CodeToken['kind'] {
  const [, comment, string, word, number] = match;
  if (comment) return 'comment';
  if (string) return 'string';
  if (word)
    return KEYWORDS.has(word) && line[match.index - 1] !== '.' && line[match.index + word.length] !== ':'
      ? 'keyword'
      : 'plain';
  return number ? 'number' : 'plain';
}
