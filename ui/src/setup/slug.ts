/** The names of sources in URLs, by the same rule as the capture port's. */

const RULE = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** Says what is wrong with a typed name; null if nothing is. */
export function slugProblem(text: string): string | null {
  if (text === '') return 'A source needs a name. It is the first part of its URL.';
  if (text.length > 63) return `${text.length} characters are too many: use at most 63.`;
  if (/^[-_]/.test(text)) return 'Start the name with a letter or digit.';
  return RULE.test(text) ? null : 'Use a to z, 0 to 9, - and _.';
}

/** Turns typed text into a name where possible: capitals and spaces are converted, not rejected. */
export function slugTyped(text: string): string {
  return text.toLowerCase().replace(/[\s./]+/g, '-');
}

/** Returns the usual name for a provider's source. */
export function slugFor(provider: string): string {
  return slugTyped(provider);
}

/** Returns the wanted name, or the first free one like it: `stripe`, then `stripe-2`. */
export function freeSlug(wanted: string, taken: readonly string[]): string {
  let slug = wanted;
  for (let number = 2; taken.includes(slug); number += 1) slug = `${wanted}-${number}`;
  return slug;
}
