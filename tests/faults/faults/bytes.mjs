// Bodies whose bytes changed but not their meaning: character sets, marks, line ends, compression; and cut-off bodies.
import { execFileSync } from 'node:child_process';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';

import { bodyFault, isJson } from './kit.mjs';

const python = (op) => (body, lab) => lab.python(op, body);
const latin = { order: { name: 'Zoë Ångström' }, applies: isJson, values: null };
const bytes = (name, group, expect, change, more = {}) =>
  bodyFault(group, name, expect, change, { values: null, ...more });
const written = (change) => (row, lab) => ({
  write: async (value, about) => change(await lab.writers[row.style](value, about)),
});
const appended = (end) => ({
  order: written((body) => (body.at(-1) === 0x0a ? body : Buffer.concat([body, Buffer.from(end)]))),
});
const dos = { order: written((body) => Buffer.from(body.toString().replace(/\r?\n/g, '\r\n'))), applies: isJson };

const compressed = (compress, coding) => (body, _lab, signed) => {
  signed.headers.splice(-1, 0, ['Content-Encoding', coding]);
  return compress(body);
};
// The sender compresses the body, and signs what it sends.
const gzipped = {
  order: (row, lab) => ({
    write: async (value, about) => {
      about.head.push(['Content-Encoding', 'gzip']);
      return gzipSync(await lab.writers[row.style](value, about));
    },
  }),
};
const LIMIT = 65_536;
const large = { order: { grow: 70_000 } };

export default [
  bytes(
    'iconv: to Latin-1',
    'charset',
    ['charset_changed'],
    (body) => iconv.encode(iconv.decode(body, 'utf8'), 'latin1'),
    latin,
  ),
  bytes(
    'iconv: to Windows-1252',
    'charset',
    ['charset_changed'],
    (body) => iconv.encode(`${iconv.decode(body, 'utf8')}`, 'windows-1252'),
    { ...latin, order: { name: 'Zoë – €5' } },
  ),
  bytes(
    'iconv: to UTF-16',
    'charset',
    ['charset_changed'],
    (body) => iconv.encode(iconv.decode(body, 'utf8'), 'utf16le'),
    latin,
  ),
  bytes('Python: to UTF-16 with a mark', 'charset', ['charset_changed', 'bom_added'], python('utf-16'), latin),
  bytes('Python: read as Latin-1', 'charset', ['charset_changed'], python('mojibake'), latin),
  bytes('Python: read as Windows-1252', 'charset', ['charset_changed'], python('mojibake cp1252'), latin),
  bytes(
    'Express: text() in Latin-1',
    'charset',
    ['charset_changed'],
    async (_body, lab, signed) => (await lab.express('text latin1', signed)).body,
    latin,
  ),
  bytes('Python: non-ASCII replaced', 'charset', ['charset_changed', 'no_match'], python('ascii replace'), latin),
  bytes('Python: utf-8-sig', 'newline', ['bom_added'], python('utf-8-sig')),
  bytes('bash: echo', 'newline', ['newline_changed'], (body) =>
    execFileSync('bash', ['-c', 'echo "$0"', body.toString()]),
  ),
  bytes('Python: text mode, CRLF', 'newline', ['newline_changed'], python('text mode crlf'), {
    order: (row, lab) => ({ write: isJson(row) ? lab.writers.pretty2 : undefined }),
    applies: isJson,
  }),
  bytes('Python: text mode, LF', 'newline', ['newline_changed'], python('text mode lf'), dos),
  bytes('trim()', 'newline', ['newline_changed'], (body) => Buffer.from(body.toString().trim()), appended('\n')),
  bytes('PHP: trim, CRLF', 'newline', ['newline_changed'], (body, lab) => lab.php('trim', body), appended('\r\n')),

  bytes(
    'Express: inflated',
    'decoded',
    ['body_decoded'],
    async (_body, lab, signed) => (await lab.express('raw inflated', signed)).body,
    gzipped,
  ),
  bytes('gzip not undone', 'decoded', ['body_decoded'], compressed(gzipSync, 'gzip')),
  bytes('brotli not undone', 'decoded', ['body_decoded'], compressed(brotliCompressSync, 'br')),
  bytes('Lambda: base64 not undone', 'decoded', ['body_decoded', 'body_reserialized'], (body) =>
    Buffer.from(body.toString('base64')),
  ),

  bytes('cut at 65,536 by a relay', 'altered', ['body_truncated'], (body) => body.subarray(0, LIMIT), {
    ...large,
    applies: isJson,
  }),
  bytes('cut at 65,536 before the handler', 'altered', ['body_truncated'], (body) => body.subarray(0, LIMIT), {
    ...large,
    applies: isJson,
    keepLength: true,
  }),
  bytes('half of it', 'altered', ['body_truncated'], (body) => body.subarray(0, body.length >> 1), {
    keepLength: true,
  }),
  bytes(
    'Express: stream read already',
    'altered',
    ['body_truncated'],
    async (_body, lab, signed) => (await lab.express('read already', signed)).body,
    { keepLength: true },
  ),
  bytes(
    'a value changed',
    'altered',
    ['no_match'],
    (body) =>
      Buffer.from(body.toString().replace(/1999|1130|Hi |"Zo|second line|text=a/, (found) => `${found.slice(0, -1)}7`)),
    { values: 'no_match', applies: (row) => row.covers !== 'nothing' },
  ),
  bytes(
    'String(req.body)',
    'altered',
    ['body_reserialized', 'no_match'],
    async (_body, lab, signed) => (await lab.express('String(req.body)', signed)).body,
    { applies: (row) => isJson(row) && row.covers === 'body' },
  ),
];
