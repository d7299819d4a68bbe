// How a row of the bench signs: by the provider's published recipe, with node:crypto only.
//
// An order says what to sign: {now, id, secret, …}. It also has what faults change: `stamp` (the timestamp's text),
// `alg`, `shape` (how the signature's bytes are encoded), `value` (how its header is built), `write` (how the body is
// written).
import { createHash, createHmac } from 'node:crypto';

export const NOW = 1_750_000_000;
export const URL_CALLED = 'https://hooks.example.com/app/in?shop=eu&b=2&a=1';

export const text = (secret) => Buffer.from(secret, 'utf8');
export const whsec = (secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
export const hex = (secret) => Buffer.from(secret, 'hex');
export const base64 = (secret) => Buffer.from(secret, 'base64');

export function mac(alg, key, parts) {
  const hmac = createHmac(alg, key);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

export function hash(alg, parts) {
  const digest = createHash(alg);
  for (const part of parts) digest.update(part);
  return digest.digest();
}

const iso = (now) => new Date(now * 1000).toISOString();

// The formats of the time units.
export const units = {
  s: (now) => `${now}`,
  ms: (now) => `${now}000`,
  iso: (now) => iso(now).replace('.000Z', 'Z'),
  offset: (now) => iso(now).replace('.000Z', '+00:00'),
  nanoseconds: (now) => iso(now).replace('.000Z', '.123456789Z'),
};

const DEFAULTS = {
  alg: 'sha256',
  enc: 'hex',
  key: text,
  kind: 'text',
  method: 'POST',
  url: 'https://hooks.example.com/in',
  type: 'application/json',
  style: 'compact',
  // What the signature covers: the body's bytes, the values in it, or nothing of it.
  covers: 'body',
  coversUrl: false,
  value: (signature) => signature,
  content: ({ body }) => [body],
  headers: () => [],
  event: () => ({}),
  params: {},
};

/// Makes a row: the defaults, overridden by `given`.
export function recipe(given) {
  const row = { ...DEFAULTS, ...given };
  row.provider ??= row.row;
  row.digest ??= (about, own) => mac(about.alg, own.key(about.secret), own.content(about));
  return row;
}

/// Returns the event that a row's provider sends; `grow` makes it long.
export function event(row, about) {
  const common = {
    id: about.id,
    type: 'order.paid',
    created: about.now,
    data: {
      amount: 1999,
      currency: 'eur',
      name: about.name ?? 'Zoë Ångström, 東京 🚀',
      note: 'a/b & <c> "d"',
      tags: [],
      paid: true,
      ...(about.grow ? { padding: 'lorem ipsum '.repeat(Math.ceil(about.grow / 12)) } : {}),
    },
  };
  return row.whole ? row.whole(about, common) : { ...common, ...row.event(about) };
}

/// Signs one event; returns {method, url, headers, body}.
export async function sign(row, order, writers) {
  const about = {
    method: row.method,
    url: row.url,
    alg: row.alg,
    secret: row.secret,
    id: row.newId?.() ?? 'evt_0001',
    now: NOW,
    ...order,
  };
  about.stamp ??= row.time ? units[row.time.unit](about.now) : '';
  about.head = [['Host', new URL(about.url).host], ...row.headers(about), ['Content-Type', row.type]];
  about.shape ??= (bytes) => bytes.toString(row.enc);
  const body = event(row, about);
  about.parsed = row.inside ? row.inside(body, about) : body;
  about.body = about.raw ?? (await (about.write ?? writers[row.style])(about.parsed, about));
  row.prepare?.(about);
  if (row.time?.header) about.head.push([row.time.header, about.stamp]);
  if (row.idHeader) about.head.push([row.idHeader, about.id]);
  if (row.header) {
    const value = row.make?.(about) ?? (about.value ?? row.value)(about.shape(row.digest(about, row)), about);
    about.head.push([row.header, value]);
  }
  const headers = [...about.head, ['Content-Length', `${about.body.length}`]];
  return { method: about.method, url: about.url, headers, body: about.body };
}
