/** What the select fields of settings offer. */

/** No provider is set: the headers of each event say who sent it. */
export const RECOGNISED = '';

/** What is said where no provider is set. */
export const RECOGNISED_SAYS = 'Recognised from the headers';

/** Where a provider's facts are written down, each with its source. */
export function docsOf(id: string): string {
  return `https://github.com/hookmitt/hookmitt/blob/main/docs/providers.md#${id}`;
}

/** How events are signed. */
export const SIGNING = [
  { value: 'provider', label: 'As the provider does' },
  { value: 'own', label: 'By settings of your own' },
] as const;

/** The algorithms of own settings. */
export const ALGORITHMS = [
  { value: 'hmac-sha256', label: 'HMAC-SHA256' },
  { value: 'hmac-sha1', label: 'HMAC-SHA1' },
  { value: 'hmac-sha512', label: 'HMAC-SHA512' },
  { value: 'sha256', label: 'SHA-256 of content with the secret in it' },
  { value: 'ed25519', label: 'Ed25519' },
  { value: 'ecdsa-p256-sha256', label: 'ECDSA P-256' },
  { value: 'rsa-sha256', label: 'RSA-SHA256' },
  { value: 'rsa-sha1', label: 'RSA-SHA1' },
  { value: 'token', label: 'Token, compared as it is' },
] as const;

/** How a signature is written. */
export const ENCODINGS = [
  { value: 'hex', label: 'hex' },
  { value: 'base64', label: 'base64' },
  { value: 'base64url', label: 'base64url' },
] as const;

/** How a header carries a signature. */
export const FORMATS = [
  { value: 'plain', label: 'Prefix and signature' },
  { value: 'fields', label: 'Fields: t=…,v1=…' },
  { value: 'list', label: 'List: v1,… v1,…' },
] as const;

/** How a secret becomes a key. */
export const KEYS = [
  { value: 'utf8', label: 'As it is written' },
  { value: 'base64', label: 'base64' },
  { value: 'hex', label: 'hex' },
  { value: 'whsec', label: 'base64 after whsec_' },
] as const;

/** How a timestamp is written. */
export const UNITS = [
  { value: 's', label: 'Unix seconds' },
  { value: 'ms', label: 'Unix milliseconds' },
  { value: 'rfc3339', label: 'RFC 3339' },
] as const;

/** What is done with a bad signature. */
export const ON_INVALID = [
  { value: 'record', label: 'Answer as usual' },
  { value: 'reject', label: 'Answer 401' },
] as const;

/** Who answers a sender. */
export const RESPOND = [
  { value: 'stored', label: 'Hookmitt' },
  { value: 'app', label: 'The local server' },
  { value: 'auto', label: 'Not set' },
] as const;

/** When the URL is called that a set-up request wants called. */
export const CONFIRM = [
  { value: 'click', label: 'On a click' },
  { value: 'itself', label: 'By itself' },
] as const;

/** What is done with a repeat. */
export const ON_DUPLICATE = [
  { value: 'skip', label: 'Skip it' },
  { value: 'forward', label: 'Forward it' },
] as const;
