// The signature is encoded wrongly, or made with another algorithm or with an unintended reading of the secret.
import { fault, withHeader } from './kit.mjs';
import { base64, hex, text } from '../signers/recipe.mjs';

const ENCODING = ['signature_encoding'];
const shaped = (name, shape, expect, applies = () => true) =>
  fault('signature', name, async (row, lab) => {
    if (row.tokenOnly || !applies(row)) return null;
    const [right, request] = [await lab.signed(row), await lab.signed(row, { shape: (bytes) => shape(bytes, row) })];
    const same = right.body.equals(request.body) && JSON.stringify(right.headers) === JSON.stringify(request.headers);
    const codes = typeof expect === 'function' ? expect(row) : expect;
    return same && row.kind !== 'public' ? null : { request, expect: codes };
  });
const enc =
  (...names) =>
  (row) =>
    names.includes(row.enc) && !row.jws;
const written = (bytes, row) => bytes.toString(row.enc);

const values = (name, value, expect, applies) =>
  fault('signature', name, async (row, lab) => {
    if (row.tokenOnly || row.jws || !row.header || !applies(row)) return null;
    return {
      request: await lab.signed(row, { value: (signature, about) => value(signature, about, row) }),
      expect: typeof expect === 'function' ? expect(row) : expect,
    };
  });
const FORMAT = ['signature_format'];

const otherAlgorithm = (name, alg, from) =>
  fault('signature', name, async (row, lab) => {
    if (row.tokenOnly || row.kind === 'public' || row.unkeyed || row.alg !== from || row.jws) return null;
    return { request: await lab.signed(row, { alg }), expect: ['algorithm_mismatch'] };
  });

export default [
  shaped('hex instead of base64', (bytes) => bytes.toString('hex'), ENCODING, enc('base64', 'base64url')),
  shaped('base64 instead of hex', (bytes) => bytes.toString('base64'), ENCODING, enc('hex')),
  shaped(
    'base64url instead of base64',
    (bytes) => bytes.toString('base64url'),
    // For a public key's signature, both alphabets are accepted.
    (row) => (row.kind === 'public' ? [...ENCODING, 'valid'] : ENCODING),
    enc('base64'),
  ),
  shaped(
    'base64 instead of base64url',
    (bytes) => bytes.toString('base64'),
    ENCODING,
    (row) => row.enc === 'base64url' && !row.jws,
  ),
  shaped('upper-case hex', (bytes) => bytes.toString('hex').toUpperCase(), [...ENCODING, 'valid'], enc('hex')),
  shaped(
    'base64 of the hex',
    (bytes) => Buffer.from(bytes.toString('hex')).toString('base64'),
    [...ENCODING, 'signature_format'],
    enc('base64'),
  ),
  shaped('cut off at 24 letters', (bytes, row) => written(bytes, row).slice(0, 24), ['signature_truncated']),
  shaped('last four letters cut off', (bytes, row) => written(bytes, row).slice(0, -4), ['signature_truncated']),
  shaped(
    'r and s instead of DER',
    (bytes) => joined(bytes).toString('base64'),
    [...ENCODING, 'signature_format'],
    (row) => row.der,
  ),
  otherAlgorithm('SHA-1 under SHA-256', 'sha1', 'sha256'),
  otherAlgorithm('SHA-512 under SHA-256', 'sha512', 'sha256'),
  otherAlgorithm('SHA-256 under SHA-1', 'sha256', 'sha1'),
  values(
    'prefix missing',
    (signature) => signature,
    (row) => (row.untagged ? [...FORMAT, 'valid'] : FORMAT),
    (row) => row.prefix,
  ),
  values(
    'only the signature of the fields',
    (signature) => signature,
    [...FORMAT, 'part_missing'],
    (row) => row.fields,
  ),
  values(
    'a prefix that is not its own',
    (signature) => `sha256=${signature}`,
    FORMAT,
    (row) => !row.prefix && !row.fields,
  ),
  values(
    'quoted',
    (signature, about, row) => `"${row.value(signature, about)}"`,
    (row) => (row.fields ? [...FORMAT, 'part_missing'] : FORMAT),
    () => true,
  ),
  values(
    'another version',
    (signature, about, row) => row.value(signature, about).replace(/v1([=,])/, 'v9$1'),
    (row) => (row.untagged ? [...FORMAT, 'valid'] : FORMAT),
    (row) => /v1[=,]/.test(row.value('', { stamp: '' })),
  ),
  values(
    'fields joined by another separator',
    (signature, about, row) => row.value(signature, about).replace(/[,;]/, (found) => (found === ',' ? ';' : ',')),
    [...FORMAT, 'part_missing'],
    (row) => row.fields,
  ),

  reading(
    'signed with the text of the secret',
    text,
    (row) => ['whsec', 'base64', 'hex'].includes(row.kind) && !row.signedInside,
  ),
  reading('signed with the secret base64-decoded', base64, (row) => row.kind === 'base64-text'),
  reading('signed with the secret hex-decoded', hex, (row) => row.kind === 'hex-text'),
  reading(
    'signed with what follows whsec_, decoded',
    (own) => base64(own.replace('whsec_', '')),
    (row) => row.kind === 'whsec-text',
  ),

  jwt(
    'alg none',
    { jwt: { header: { alg: 'none' }, unsigned: true } },
    ['algorithm_mismatch', 'signature_format'],
    () => true,
  ),
  jwt('another algorithm', { jwt: { header: { alg: 'HS512' } } }, ['algorithm_mismatch'], () => true),
  jwt('another issuer', { jwt: { claims: { iss: 'https://issuer.example.net' } } }, ['untrusted_key'], (row) =>
    ['netlify', 'google_pubsub'].includes(row.row),
  ),
  jwt(
    'another service account',
    { jwt: { claims: { email: 'other@example.com' } } },
    ['untrusted_key'],
    (row) => row.params.service_account_email,
  ),
  jwt('unknown key id', { jwt: { header: { kid: 'k9' } } }, ['untrusted_key'], (row) => row.row === 'plaid' || row.kid),
  jwt('expired', { now: 1_750_000_000 - 86_400 }, ['timestamp_old'], (row) =>
    ['google_pubsub', 'monday'].includes(row.row),
  ),
  fault('signature', 'certificate of another host', async (row, lab) => {
    const strange = 'https://certs.example.net/cert.pem';
    if (row.row === 'aws_sns')
      return { request: await lab.signed(row, { certUrl: strange }), expect: ['untrusted_key'] };
    if (row.row !== 'paypal') return null;
    // The certificate's URL is not signed, and the certificate is already cached.
    return {
      request: withHeader(await lab.signed(row), 'PAYPAL-CERT-URL', (name) => [name, strange]),
      expect: ['untrusted_key', 'valid'],
    };
  }),
  fault('signature', 'another webhook id', async (row, lab) =>
    row.row === 'paypal'
      ? {
          request: await lab.signed(row, { webhookId: '9XX00000000000000' }),
          expect: ['wrong_configuration', 'no_match'],
        }
      : null,
  ),
  fault('signature', "the simulator's webhook id", async (row, lab) =>
    row.row === 'paypal'
      ? { request: await lab.signed(row, { webhookId: 'WEBHOOK_ID' }), expect: ['wrong_configuration'] }
      : null,
  ),
];

// The sender interpreted the secret differently from what its kind requires.
function reading(name, key, applies) {
  return fault('secret', name, async (row, lab) => {
    if (!applies(row) || row.tokenOnly) return null;
    return {
      request: await lab.signed({ ...row, key }),
      expect: row.textKeyFits ? ['secret_encoding', 'valid'] : ['secret_encoding'],
    };
  });
}

function jwt(name, order, expect, applies) {
  return fault('signature', `JWT: ${name}`, async (row, lab) =>
    row.jws && applies(row) ? { request: await lab.signed(row, order), expect } : null,
  );
}

// Converts a DER signature to its two numbers, in 32 bytes each.
function joined(der) {
  const numbers = [];
  for (let at = 2; at < der.length; at += 2 + der[at + 1]) numbers.push(der.subarray(at + 2, at + 2 + der[at + 1]));
  return Buffer.concat(numbers.map((number) => Buffer.concat([Buffer.alloc(32), number]).subarray(-32)));
}
