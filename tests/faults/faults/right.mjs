// Correct deliveries of every kind: none of them may be judged invalid.
import { gzipSync } from 'node:zlib';

import { fault, isJson } from './kit.mjs';
import { NOW } from '../signers/recipe.mjs';

const right = (name, order, applies = () => true) =>
  fault('right', name, async (row, lab) =>
    applies(row)
      ? {
          request: await lab.signed(row, order(row, lab)),
          secrets: order(row, lab).secret && [order(row, lab).secret],
          expect: ['valid'],
        }
      : null,
  );
const raw = (row) => row.covers === 'body' && !row.time?.inBody && !row.ownUrl;
const ends = (row, lab, change) => ({
  write: async (value, about) => change(await lab.writers[row.style](value, about)),
});
const dos = (body) => Buffer.from(body.toString().replace(/\r?\n/g, '\r\n'));
const text = (row) => row.kind === 'text';

// Adds a second signature to the correct one, as providers do while secrets rotate.
const beside = (signature, about, row) => {
  const strange = signature.replace(/[0-9a-zA-Z]/g, (letter) => (/\d/.test(letter) ? '1' : 'a'));
  const joint =
    row.header.endsWith('-signature') && row.idHeader ? ' ' : (row.value('', about).match(/, |[,;]/) ?? [','])[0];
  const own = row.value(signature, about);
  return `${own}${joint}${row
    .value(strange, about)
    .split(/, |[;]|,(?=v)/)
    .at(-1)}`;
};

export default [
  right('as it was sent', () => ({})),
  ...['compact', 'pretty2', 'python', 'ascii', 'go', 'php'].map((style) =>
    right(`written as ${style}`, (_, lab) => ({ write: lab.writers[style] }), isJson),
  ),
  right(
    'a line feed at its end',
    (row, lab) => ends(row, lab, (body) => Buffer.concat([body, Buffer.from('\n')])),
    (row) => raw(row) && isJson(row),
  ),
  right('line ends of Windows', (row, lab) => ends(row, lab, dos), isJson),
  right('large', () => ({ grow: 70_000 })),
  right('no text at all', () => ({ raw: Buffer.from([0, 0xff, 0xfe, 0x0d, 0x0a, 0x80]) }), raw),
  right('compressed, and signed so', (row, lab) => ends(row, lab, gzipSync), raw),
  right(
    'just in time',
    (row) => ({ now: NOW - row.time.tolerance + 1 }),
    (row) => row.time?.tolerance,
  ),
  right(
    'just not too early',
    (row) => ({ now: NOW + row.time.tolerance - 1 }),
    (row) => row.time?.tolerance && row.time.future,
  ),
  right(
    'early, which is not looked at',
    (row) => ({ now: NOW + 30 }),
    (row) => row.time?.tolerance && !row.time.future,
  ),
  right(
    'another signature beside it',
    (row) => ({ value: (signature, about) => beside(signature, about, row) }),
    (row) => row.fields || row.kind === 'whsec' || row.row === 'pagerduty',
  ),
  right('a secret with odd letters', () => ({ secret: 'R&D <key> "1" é+/=%41' }), text),
  right('a secret that looks like base64', () => ({ secret: 'c2VjcmV0IHNlY3JldA==' }), text),
  right('a secret that looks like hex', () => ({ secret: 'deadbeefdeadbeef' }), text),
];
