/** The options of the select fields in the settings. */

/** No provider is set, so hookmitt recognises the sender of each event from its headers. */
export const RECOGNISED = '';

/** The label of that option. */
export const RECOGNISED_SAYS = 'Detect from headers';

/** Returns the page with a provider's facts and their sources. */
export function docsOf(id: string): string {
  return `https://github.com/hookmitt/hookmitt/blob/main/docs/providers.md#${id}`;
}

/** Whose scheme signs the events. */
export const SIGNING = [
  { value: 'provider', label: 'The provider’s scheme' },
  { value: 'own', label: 'Custom scheme' },
] as const;

/** The algorithms of an own scheme. */
export const ALGORITHMS = [
  { value: 'hmac-sha256', label: 'HMAC-SHA256' },
  { value: 'hmac-sha1', label: 'HMAC-SHA1' },
  { value: 'hmac-sha512', label: 'HMAC-SHA512' },
  { value: 'sha256', label: 'SHA-256 of content that contains the secret' },
  { value: 'ed25519', label: 'Ed25519' },
  { value: 'ecdsa-p256-sha256', label: 'ECDSA P-256' },
  { value: 'rsa-sha256', label: 'RSA-SHA256' },
  { value: 'rsa-sha1', label: 'RSA-SHA1' },
  { value: 'token', label: 'Token, compared as is' },
] as const;

/** The encodings of a signature. */
export const ENCODINGS = [
  { value: 'hex', label: 'hex' },
  { value: 'base64', label: 'base64' },
  { value: 'base64url', label: 'base64url' },
] as const;

/** The formats in which a header carries a signature. */
export const FORMATS = [
  { value: 'plain', label: 'Prefix and signature' },
  { value: 'fields', label: 'Fields: t=…,v1=…' },
  { value: 'list', label: 'List: v1,… v1,…' },
] as const;

/** How a secret is turned into a key. */
export const KEYS = [
  { value: 'utf8', label: 'As written' },
  { value: 'base64', label: 'base64' },
  { value: 'hex', label: 'hex' },
  { value: 'whsec', label: 'base64 after whsec_' },
] as const;

/** The formats of a timestamp. */
export const UNITS = [
  { value: 's', label: 'Unix seconds' },
  { value: 'ms', label: 'Unix milliseconds' },
  { value: 'rfc3339', label: 'RFC 3339' },
] as const;

/** What the capture port answers to an invalid signature. */
export const ON_INVALID = [
  { value: 'record', label: 'Answer as usual' },
  { value: 'reject', label: 'Answer 401' },
] as const;

/** Who answers the sender. */
export const RESPOND = [
  { value: 'stored', label: 'Hookmitt' },
  { value: 'app', label: 'The local server' },
  { value: 'auto', label: 'Not set' },
] as const;

/** When to call the URL that a set-up request asks to be called. */
export const CONFIRM = [
  { value: 'click', label: 'When you click' },
  { value: 'itself', label: 'Automatically' },
] as const;

/** What to do with a duplicate. */
export const ON_DUPLICATE = [
  { value: 'skip', label: 'Skip it' },
  { value: 'forward', label: 'Forward it' },
] as const;
