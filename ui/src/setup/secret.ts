/** Secrets on their way from a field to the vault, which never returns them. */

import type { Sent } from './types';

/** The default label of a source's first secret; the command line uses it too. */
export const USUAL_LABEL = 'default';

/** Masks the middle of a secret: the prefix shows its kind, the end tells secrets apart. Short secrets show nothing. */
export function masked(secret: string): string {
  const prefix = /^[A-Za-z]{2,8}_/.exec(secret)?.[0] ?? '';
  const end = secret.length - prefix.length >= 16 ? 4 : 0;
  const shownPrefix = end === 0 ? '' : prefix;
  const hidden = secret.length - shownPrefix.length - end;
  return shownPrefix + '•'.repeat(hidden) + secret.slice(secret.length - end);
}

/** Returns a pasted secret without the white space that copying added around it. */
export function trimmed(secret: string): string {
  return secret.trim();
}

/** Returns a secret's bytes in base64, as the API takes them. */
export function toBase64(secret: string): string {
  const bytes = new TextEncoder().encode(secret);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** Returns the variable name of `env:NAME`; null if the text is a secret itself. */
export function variableOf(text: string): string | null {
  return /^env:(.*)$/.exec(text.trim())?.[1] ?? null;
}

/** Returns the body for the API: the value, or the variable from which to read it. */
export function secretBody(text: string): { value_base64: string } | { env: string } {
  const env = variableOf(text);
  return env === null ? { value_base64: toBase64(trimmed(text)) } : { env };
}

/** Says what is wrong with a secret; null if nothing is. */
export function secretProblem(text: string): string | null {
  const variable = variableOf(text);
  if (variable === null)
    return trimmed(text) === '' ? 'Paste the secret, or name a variable with env:NAME.' : null;
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)
    ? null
    : 'Name the variable with letters, digits and _, such as `env:STRIPE_WEBHOOK_SECRET`.';
}

/** Says what is wrong with a label; null if nothing is. */
export function labelProblem(label: string, taken: readonly string[] = []): string | null {
  if (label.trim() === '') return 'A secret needs a label.';
  if ([...label].length > 100) return 'A label can have at most 100 characters.';
  if (/[\u0000-\u001f\u007f-\u009f]/.test(label)) return 'A label can’t contain control characters.';
  return taken.includes(label) ? `There is already a secret called “${label}”.` : null;
}

/** Warns, but never refuses, if the text doesn't have the prefix that the provider's secrets usually have. */
export function looksUnlike(hint: string | null | undefined, text: string): string | null {
  const prefix = /starts with (\S+_)/.exec(hint ?? '')?.[1];
  if (prefix === undefined || text === '' || variableOf(text) !== null) return null;
  const given = trimmed(text);
  return given.startsWith(prefix) || prefix.startsWith(given) ? null : `It usually starts with ${prefix}.`;
}

/** Says where secrets will be kept, as far as is known. The words promise nothing that may be untrue. */
export function keptIn(kinds: readonly string[]): { text: string; warns: boolean } {
  const never = 'It never appears in exports, logs or URLs.';
  if (kinds.includes('file')) {
    return {
      text: `No keychain available: stored unencrypted in a file that only you can read. ${never}`,
      warns: true,
    };
  }
  const place = kinds.includes('keychain') ? '' : ', or else in a file that only you can read';
  return { text: `Stored in the system keychain${place}. ${never}`, warns: false };
}

/** Says how a sample was signed: with which secret, or why not. */
export function signedHow({ secret, unsigned }: Pick<Sent, 'secret' | 'unsigned'>): string {
  if (secret === null) return `sent unsigned: ${unsigned ?? 'its provider doesn’t sign events'}`;
  const own = /^the secret "(.*)" of \S+$/.exec(secret)?.[1];
  return `signed with ${own === undefined ? secret.replace(/^the (public test )?secret /, '') : `“${own}”`}`;
}

/** Says where a secret is kept. */
export function placeOf(secret: { kind: string; env: string | null }): string {
  if (secret.kind === 'env') return `in the variable ${secret.env ?? ''}`;
  return secret.kind === 'file' ? 'in a file, unencrypted' : 'in the system keychain';
}
