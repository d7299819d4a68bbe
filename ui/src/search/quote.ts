/** Characters that mean something in a value of the search language; in quotes they stand for themselves. */
const SPECIAL = /[\s",*]|^$/;

/** Writes a value so that it is looked for as it is. */
export function quoted(value: string): string {
  return SPECIAL.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value;
}

/** Writes a term: `source:shop`, `type:"user created"`. */
export function term(key: string, value: string): string {
  return `${key}:${quoted(value)}`;
}

/** Joins terms; empty ones are left out. */
export function joined(...terms: readonly string[]): string {
  return terms.filter((one) => one !== '').join(' ');
}
