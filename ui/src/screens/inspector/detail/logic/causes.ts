import type { Cause } from '../../../../api/shapes';
import { limit, span } from './span';

/** What is known about the time of signing. */
export interface Clock {
  /** Milliseconds from signing to arrival. */
  age: number | null;
  tolerance_s: number | null;
}

type Said = (sender: string, clock: Clock) => string;

/** The code of what backup sync fetched. */
export const FROM_API = 'from_the_api';

/** Each cause's short title, and its sentence after “Invalid:”. */
const CAUSES: Record<string, [title: string, sentence: string | Said]> = {
  body_reserialized: ['Body re-serialised', 'the body was parsed and written again on its way here.'],
  newline_changed: ['Line endings changed', 'the line endings of the body were changed on its way here.'],
  bom_added: ['Byte order mark', 'a byte order mark was added to the body, or taken from it.'],
  form_changed: ['Form re-encoded', 'the form was decoded and written again on its way here.'],
  secret_whitespace: ['Whitespace in secret', 'the secret stored here has whitespace around it.'],
  secret_encoding: [
    'Secret read differently',
    (sender) => `the secret is decoded differently than ${sender} does.`,
  ],
  signature_encoding: [
    'Signature encoding',
    (sender) => `the signature is not encoded as ${sender} encodes it.`,
  ],
  signature_truncated: ['Signature cut off', 'the end of the signature was cut off.'],
  signature_format: ['Signature format', (sender) => `the signature is not written as ${sender} writes it.`],
  unknown_algorithm: ['Algorithm not checked', 'it uses an algorithm that isn’t checked here.'],
  algorithm_mismatch: ['Another algorithm', 'the signature was made with another algorithm.'],
  timestamp_old: ['Timestamp too old', (sender, clock) => late(sender, clock, 'before')],
  timestamp_future: ['Timestamp ahead', (sender, clock) => late(sender, clock, 'after')],
  timestamp_unit: ['Timestamp unit', 'the signed timestamp is not in whole seconds.'],
  part_missing: ['Signed part missing', 'a signed part is missing.'],
  no_match: ['No secret fits', 'no known secret fits.'],
  public_secret: ['Public test secret', 'signed with the public test secret.'],
  other_secret: ['Another known secret', 'signed with a different secret that is known here.'],
  other_event: ['Another event’s signature', 'this signature belongs to another event.'],
  header_renamed: ['Header renamed', 'a signed header has a different name here.'],
  charset_changed: ['Character set changed', 'the character set of the body was changed on its way here.'],
  body_decoded: ['Body decompressed', 'the body was decompressed on its way here.'],
  body_truncated: ['Body cut off', 'the end of the body is missing.'],
  other_provider: ['Another provider', (sender) => `the signature is not one of ${sender}’s.`],
  [FROM_API]: ['From the API, unsigned', 'it came from the provider’s API.'],
  url_mismatch: ['Another URL', 'it was signed for a different URL than the one called.'],
  untrusted_key: ['Key not trusted', 'the key that signed it isn’t trusted.'],
  wrong_configuration: [
    'Different configuration',
    'it is meant for a different webhook than the one set up here.',
  ],
};

/** Returns the short title of a cause: “Body re-serialised”. */
export function causeTitle(cause: Cause): string {
  return cause.title ?? CAUSES[cause.code]?.[0] ?? cause.code.replaceAll('_', ' ');
}

/** Returns the sentence after “Invalid:”; null if only the cause's own message is available. */
export function causeSentence(cause: Cause, sender: string, clock: Clock): string | null {
  const said = CAUSES[cause.code]?.[1] ?? null;
  return typeof said === 'function' ? said(sender, clock) : said;
}

function late(sender: string, { age, tolerance_s }: Clock, side: 'before' | 'after'): string {
  if (age === null)
    return side === 'before' ? 'signed too long before it arrived.' : 'signed after it arrived.';
  const lag = span(age);
  if (tolerance_s === null) return `signed ${lag} ${side} it arrived.`;
  const allowed = limit(tolerance_s);
  const [number, unit] = allowed.split(' ');
  return `signed ${lag} ${side} it arrived; ${sender} allows ${lag.endsWith(` ${unit}`) ? number : allowed}.`;
}
