/** The names of sources in URLs, by the rule that the capture port goes by. */

const RULE = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** What is wrong with a name that somebody typed; null where nothing is. */
export function slugProblem(text: string): string | null {
  if (text === '') return 'A source needs a name. It is the first part of its URL.';
  if (text.length > 63) return `${text.length} characters are too many: 63 at most.`;
  if (/^[-_]/.test(text)) return 'The name starts with a letter or a digit.';
  return RULE.test(text) ? null : 'Use a to z, 0 to 9, - and _.';
}

/** What somebody typed, as near to a name as it goes: capitals and spaces are no reason to stop them. */
export function slugTyped(text: string): string {
  return text.toLowerCase().replace(/[\s./]+/g, '-');
}

/** The name that a provider's source usually gets. */
export function slugFor(provider: string): string {
  return slugTyped(provider);
}

/** A name like this one that is still free: `stripe`, then `stripe-2`. */
export function freeSlug(wanted: string, taken: readonly string[]): string {
  let slug = wanted;
  for (let number = 2; taken.includes(slug); number += 1) slug = `${wanted}-${number}`;
  return slug;
}
