// The request is right; the secret was copied, encoded or chosen wrongly.
import { execFileSync } from 'node:child_process';
import he from 'he';
import { parse as dotenv } from 'dotenv';

import { fault } from './kit.mjs';

const keyed = (row) => row.kind !== 'public';
const secret = (name, change, expect, { applies = () => true, order = {} } = {}) =>
  fault('secret', name, async (row, lab) => {
    if (!keyed(row) || !applies(row)) return null;
    const own = order.secret ?? row.secret;
    const changed = await change(own, lab, row);
    const codes = typeof expect === 'function' ? expect(row) : expect;
    return changed === own || changed === null
      ? null
      : { request: await lab.signed(row, order), secrets: [changed], expect: codes };
  });
// Decoders of base64 and hex skip white space, as the providers' own decoders do.
const SPACE = (row) =>
  ['whsec', 'base64', 'hex'].includes(row.kind) ? ['secret_whitespace', 'valid'] : ['secret_whitespace'];
const ENCODING = ['secret_encoding'];
const python = (op) => async (own, lab) => (await lab.python(op, own)).toString();
const kinds = (...names) => ({ applies: (row) => names.includes(row.kind) });
const TEXTS = ['text', 'hex-text', 'base64-text', 'whsec-text'];
const free = (text) => ({ ...kinds('text'), order: { secret: text } });
const bytesOf = (row, own) => row.key(own);

export default [
  secret('bash: echo > file', (own) => execFileSync('bash', ['-c', 'echo "$0"', own]).toString(), SPACE),
  secret('a line of a Windows file', (own) => `${own}\r`, SPACE),
  secret('space after it', (own) => `${own} `, SPACE),
  secret('spaces around it', (own) => `  ${own} `, SPACE),
  secret('no-break space of a web page', (own) => `${own}\u00a0`, SPACE),
  secret('zero-width space of a web page', (own) => `\u200b${own}`, SPACE),
  secret('configparser: quotes kept', python('configparser'), ENCODING),
  secret('dotenv: single quotes within double', (own) => dotenv(`SECRET="'${own}'"`).SECRET, ENCODING),
  secret('Kubernetes: base64 of it', (own) => Buffer.from(own).toString('base64'), ENCODING),
  secret('hex of it', (own) => Buffer.from(own).toString('hex'), ENCODING, kinds(...TEXTS)),
  secret('hex of the key', (own, _, row) => bytesOf(row, own).toString('hex'), ENCODING, kinds('whsec', 'base64')),
  secret('base64 of the key', (own, _, row) => bytesOf(row, own).toString('base64'), ENCODING, kinds('hex')),
  secret('whsec_ cut off', (own) => own.replace('whsec_', ''), ENCODING, kinds('whsec-text')),
  secret('he: HTML entities', (own) => he.encode(own, { useNamedReferences: true }), ENCODING, free('R&D <key> "1"')),
  secret(
    'PHP: htmlspecialchars',
    async (own, lab) => (await lab.php('htmlspecialchars', own)).toString(),
    ENCODING,
    free('R&D <key> "1"'),
  ),
  secret('Python: html.escape', python('html.escape'), ENCODING, free("R&D's <key>")),
  secret('Python: percent-encoded', python('quote'), ENCODING, free('a+b/c=d&e')),
  secret('Python: a form value', python('form value'), ENCODING, free('ab+cd+ef/12')),
  secret('upper case', (own) => own.toUpperCase(), ENCODING, { applies: (row) => row.tokenOnly && !row.wrapped }),
  secret('last letter not copied', (own) => own.slice(0, -1), ['no_match', 'secret_encoding'], {
    applies: (row) => !['whsec', 'base64', 'hex'].includes(row.kind),
  }),
  fault('secret', 'unknown secret', async (row, lab) => ({
    request: await lab.signed(row),
    ...(keyed(row) ? { secrets: [row.other] } : { publicKey: row.otherPublicKey }),
    expect: ['no_match'],
  })),
  fault('secret', 'secret of another source', async (row, lab) => ({
    request: await lab.signed(row),
    ...known(row, 'shop-live'),
    expect: ['other_secret'],
  })),
  fault('secret', 'rotated: the old one signed', async (row, lab) => ({
    request: await lab.signed(row),
    ...known(row, 'rotated out'),
    expect: ['other_secret'],
  })),
  fault('secret', 'several secrets, one right', async (row, lab) =>
    keyed(row) && !row.keysByPlace
      ? {
          request: await lab.signed(row),
          secrets: [row.other, row.secret],
          expect: ['valid'],
        }
      : null,
  ),
];

// The fitting secret belongs to another source here.
function known(row, label) {
  const strangers = [{ label: 'unrelated', value: 'nothing of the kind' }];
  if (keyed(row)) return { secrets: [row.other], others: [...strangers, { label, value: row.secret }] };
  return { publicKey: row.otherPublicKey, others: [...strangers, { label, publicKey: row.publicKey }] };
}
