// The handler sees another URL than the provider called, and so does whoever rebuilds the URL from the request.
import { fault, lower, withHeader } from './kit.mjs';

const MISMATCH = ['url_mismatch'];
// Nothing in the request says which URL the provider called.
const NO_TRACE = ['url_mismatch', 'no_match'];
const covers = (row, what) => row.coversUrl || (what === 'path' && row.coversPath);

// A proxy in front of the handler. `what` says what it changes: the path, or only the scheme and the host.
const proxied = (name, kind, server, what, expect) =>
  fault('url', name, async (row, lab) => {
    const signed = await lab.signed(row);
    if (what === 'path' && !covers(row, what) && !row.coversUrl) return null;
    const request = await lab[kind](server, signed);
    if (lower(request.method) !== lower(signed.method)) return null;
    return { request, expect: covers(row, what) ? expect : ['valid'] };
  });

const rewritten = (name, change, expect = MISMATCH, order = {}) =>
  fault('url', name, async (row, lab) => {
    if (!covers(row, 'path')) return null;
    const signed = await lab.signed(row, order);
    const url = change(new URL(signed.url), signed.url);
    return url === signed.url ? null : { request: { ...signed, url }, expect };
  });

const sorted = (url) => {
  url.searchParams.sort();
  return url.href;
};
const reversed = (url) => {
  const pairs = [...url.searchParams].reverse();
  return `${url.origin}${url.pathname}?${new URLSearchParams(pairs)}`;
};

export default [
  proxied('nginx: proxy_pass alone', 'nginx', 'plain', 'host', NO_TRACE),
  proxied('nginx: TLS ended, forwarded headers', 'nginx', 'forwarded', 'host', MISMATCH),
  proxied('nginx: TLS ended, no forwarded headers', 'nginx', 'silent', 'host', MISMATCH),
  proxied('nginx: port in Host', 'nginx', 'port', 'host', MISMATCH),
  proxied('nginx: location prefix cut off', 'nginx', 'stripped', 'path', MISMATCH),
  proxied('nginx: prefix put in front', 'nginx', 'prefixed', 'path', MISMATCH),
  proxied('nginx: rewrite without query', 'nginx', 'query dropped', 'path', MISMATCH),
  proxied('nginx: trailing slash', 'nginx', 'slash', 'path', MISMATCH),
  proxied('http-proxy: changeOrigin', 'nodeProxy', 'changeOrigin', 'host', NO_TRACE),
  proxied('http-proxy: xfwd', 'nodeProxy', 'xfwd', 'host', MISMATCH),
  proxied('http-proxy: path put in front', 'nodeProxy', 'prepend', 'path', NO_TRACE),
  rewritten('URLSearchParams.sort', sorted),
  rewritten('query reversed', reversed),
  rewritten(
    'query re-encoded',
    (url) => `${url.origin}${url.pathname}?${new URLSearchParams(url.searchParams)}`,
    MISMATCH,
    { url: 'https://hooks.example.com/app/in?note=a%20b%2Fc&a=1' },
  ),
  rewritten('trailing slash dropped', (url, text) => text.replace('/app/in/', '/app/in'), MISMATCH, {
    url: 'https://hooks.example.com/app/in/?a=1',
  }),
  rewritten('query lost without a trace', (url) => `${url.origin}${url.pathname}`, NO_TRACE),
  fault('url', 'handler on localhost', async (row, lab) => {
    if (!row.coversUrl) return null;
    const signed = await lab.signed(row);
    return {
      request: { ...signed, url: signed.url.replace('https://hooks.example.com', 'http://localhost:3000') },
      expect: MISMATCH,
    };
  }),
  fault('url', 'a port that was registered', async (row, lab) => {
    if (!row.coversUrl) return null;
    const signed = await lab.signed(row, { url: 'https://hooks.example.com:443/app/in?a=1' });
    const request = withHeader({ ...signed, url: signed.url.replace(':443', '') }, 'Host', (name) => [
      name,
      'hooks.example.com',
    ]);
    return { request, expect: row.provider === 'twilio' ? ['valid'] : MISMATCH };
  }),
  fault('url', 'method changed', async (row, lab) => {
    if (!row.coversMethod) return null;
    const signed = await lab.signed(row, { method: 'PUT' });
    return { request: { ...signed, method: 'POST' }, expect: NO_TRACE };
  }),
  fault('url', 'bodySHA256 stripped', async (row, lab) => {
    const signed = await lab.signed(row);
    const url = signed.url.replace(/&bodySHA256=\w+/, '');
    return url === signed.url ? null : { request: { ...signed, url }, expect: MISMATCH };
  }),
  fault('url', 'audience of another URL', async (row, lab) => {
    if (!row.params.audience) return null;
    return {
      request: await lab.signed(row, { jwt: { claims: { aud: 'https://tunnel.example.net/in' } } }),
      expect: MISMATCH,
    };
  }),
];
