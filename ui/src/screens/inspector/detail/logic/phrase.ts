/** A piece of a sentence: plain, a name in bold, or data in mono. It is rendered as text only, never as HTML. */
export type Piece = string | { strong: string } | { mono: string };

/** A sentence split into pieces. */
export type Phrase = Piece[];

/** Returns the sentence as plain text, for tooltips and accessible names. */
export function plain(phrase: Phrase): string {
  return phrase
    .map((piece) => (typeof piece === 'string' ? piece : 'strong' in piece ? piece.strong : piece.mono))
    .join('');
}

/** Returns a sentence as it follows a colon: in lower case, unless it begins with a name. */
export function follows(sentence: string): string {
  const isWord = /^(?:An?|It|Its|No|Nothing|Signed|That|The|There|This)\b/.test(sentence);
  return isWord ? sentence.charAt(0).toLowerCase() + sentence.slice(1) : sentence;
}

const ORDINALS = [
  'first',
  'second',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
  'ninth',
  'tenth',
];

/** Returns an ordinal number: `first`, `third`, `11th`. */
export function ordinal(number: number): string {
  return ORDINALS[number - 1] ?? `${number}${suffix(number)}`;
}

function suffix(number: number): string {
  if (number % 100 >= 11 && number % 100 <= 13) return 'th';
  return ['th', 'st', 'nd', 'rd'][number % 10] ?? 'th';
}

/** Joins items to a list: `a`, `a and b`, `a, b and c`. */
export function list<T>(items: T[], glue: (text: string) => T): T[] {
  return items.flatMap((item, at) => {
    if (at === 0) return [item];
    return [glue(at === items.length - 1 ? ' and ' : ', '), item];
  });
}
