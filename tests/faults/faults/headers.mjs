// Headers that were dropped or renamed, or that belong to somebody else.
import { fault, lower, withHeader, without } from './kit.mjs';

const header = (name, run) =>
  fault('header', name, async (row, lab) => (row.header ? run(row, await lab.signed(row), lab) : null));
const renamed = (name, change) =>
  header(name, async (row, signed, lab) => {
    const other = await change(row.header, lab);
    if (lower(other) === lower(row.header)) return null;
    return { request: withHeader(signed, row.header, (_, value) => [other, value]), expect: ['header_renamed'] };
  });
const dropped = (what, pick) =>
  header(`${what} header missing`, (row, signed) => {
    const name = pick(row);
    return name ? { request: without(signed, name), expect: ['part_missing'] } : null;
  });
const authorization = (row) => lower(row.header) === 'authorization';
const PLAIN = ['host', 'content-type', 'content-length', 'user-agent', 'connection'];

export default [
  header('signature header dropped', (row, signed) => ({ request: without(signed, row.header), expect: ['unsigned'] })),
  header('nginx: Authorization dropped', async (row, signed, lab) =>
    authorization(row) ? { request: await lab.nginx('auth dropped', signed), expect: ['unsigned'] } : null,
  ),
  header('nginx: Authorization renamed', async (row, signed, lab) =>
    authorization(row) ? { request: await lab.nginx('auth renamed', signed), expect: ['header_renamed'] } : null,
  ),
  header('API Gateway: Authorization remapped', (row, signed) =>
    authorization(row)
      ? {
          request: withHeader(signed, 'Authorization', (_, value) => ['x-amzn-remapped-authorization', value]),
          expect: ['header_renamed'],
        }
      : null,
  ),
  header('http-proxy: lower-case names', async (row, signed, lab) => {
    const lowered = { ...signed, headers: signed.headers.map(([name, value]) => [lower(name), value]) };
    const seen = await lab.nodeProxy('plain', lowered);
    return { request: { ...seen, url: signed.url }, expect: ['valid'] };
  }),
  header('WSGI: names of the environment', async (row, signed, lab) => {
    const headers = [];
    for (const [name, value] of signed.headers) {
      headers.push([PLAIN.includes(lower(name)) ? name : (await lab.python('wsgi name', name)).toString(), value]);
    }
    return { request: { ...signed, headers }, expect: ['header_renamed'] };
  }),
  renamed('underscores', (name) => lower(name).replaceAll('-', '_')),
  renamed('X-Original- in front', (name) => `X-Original-${name}`),
  renamed('X-Forwarded- in front', (name) => `X-Forwarded-${name.replace(/^X-/i, '')}`),
  dropped('timestamp', (row) => row.time?.header ?? row.dropTime),
  dropped('id', (row) => row.idHeader),
  header('source set to another provider', (row, signed) => {
    const provider = row.provider === 'stripe' ? 'shopify' : 'stripe';
    return authorization(row) ? null : { request: signed, provider, expect: ['other_provider'] };
  }),
];
