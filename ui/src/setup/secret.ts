/** Secrets on their way from a field to the vault, which never gives them back. */

import type { Sent } from './types';

/** What tells a source's first secret from others, unless it is said; the command line uses it too. */
export const USUAL_LABEL = 'default';

/** A secret with its middle hidden: the prefix says which kind it is, the end which one. Short ones show nothing. */
export function masked(secret: string): string {
  const prefix = /^[A-Za-z]{2,8}_/.exec(secret)?.[0] ?? '';
  const end = secret.length - prefix.length >= 16 ? 4 : 0;
  const shownPrefix = end === 0 ? '' : prefix;
  const hidden = secret.length - shownPrefix.length - end;
  return shownPrefix + '•'.repeat(hidden) + secret.slice(secret.length - end);
}

/** A pasted secret without what copying adds around it. */
export function trimmed(secret: string): string {
  return secret.trim();
}

/** A secret's bytes as the API takes them. */
export function toBase64(secret: string): string {
  const bytes = new TextEncoder().encode(secret);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** The variable of `env:NAME`; null where it is a secret itself. */
export function variableOf(text: string): string | null {
  return /^env:(.*)$/.exec(text.trim())?.[1] ?? null;
}

/** What the API is given: the value, or the variable to read it from. */
export function secretBody(text: string): { value_base64: string } | { env: string } {
  const env = variableOf(text);
  return env === null ? { value_base64: toBase64(trimmed(text)) } : { env };
}

/** What is wrong with a secret; null where nothing can be said against it. */
export function secretProblem(text: string): string | null {
  const variable = variableOf(text);
  if (variable === null)
    return trimmed(text) === '' ? 'Paste the secret, or name a variable with env:NAME.' : null;
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)
    ? null
    : 'Name the variable with letters, digits and _, such as `env:STRIPE_WEBHOOK_SECRET`.';
}

/** What is wrong with a label; null where nothing is. */
export function labelProblem(label: string, taken: readonly string[] = []): string | null {
  if (label.trim() === '') return 'A secret needs a label.';
  if ([...label].length > 100) return 'A label has 100 characters at most.';
  if (/[\u0000-\u001f\u007f-\u009f]/.test(label)) return 'A label has no control characters.';
  return taken.includes(label) ? `There is a secret labelled “${label}” already.` : null;
}

/** What a provider's secret looks like, checked against what was typed: a word before it is saved, never a refusal. */
export function looksUnlike(hint: string | null | undefined, text: string): string | null {
  const prefix = /starts with (\S+_)/.exec(hint ?? '')?.[1];
  if (prefix === undefined || text === '' || variableOf(text) !== null) return null;
  const given = trimmed(text);
  return given.startsWith(prefix) || prefix.startsWith(given) ? null : `It usually starts with ${prefix}.`;
}

/** Where secrets are kept, as far as is known: in words that promise nothing that isn't so. */
export function keptIn(kinds: readonly string[]): { text: string; warns: boolean } {
  const never = 'It never appears in exports, logs or URLs.';
  if (kinds.includes('file')) {
    return { text: `No keychain here: kept unencrypted in a file only you can read. ${never}`, warns: true };
  }
  const place = kinds.includes('keychain') ? '' : ', else in a file only you can read';
  return { text: `Kept in the system keychain${place}. ${never}`, warns: false };
}

/** How a sample was signed: with which secret, or why with none. */
export function signedHow({ secret, unsigned }: Pick<Sent, 'secret' | 'unsigned'>): string {
  if (secret === null) return `sent unsigned: ${unsigned ?? 'its provider signs nothing'}`;
  const own = /^the secret "(.*)" of \S+$/.exec(secret)?.[1];
  return `signed with ${own === undefined ? secret.replace(/^the (public test )?secret /, '') : `“${own}”`}`;
}

/** Where a secret is kept, in words. */
export function placeOf(secret: { kind: string; env: string | null }): string {
  if (secret.kind === 'env') return `in the variable ${secret.env ?? ''}`;
  return secret.kind === 'file' ? 'in a file, unencrypted' : 'in the system keychain';
}
