// What the SDKs' entries share. Each is {package, sign?, signed_by?, verify}: `sign` returns what the provider would
// send for a body ({headers, body?, url?}), or only the header lines; `verify` throws if the SDK rejects the request.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';

export const seconds = () => Math.floor(Date.now() / 1000);
export const freshId = () => `msg_${Math.random().toString(36).slice(2)}`;
export const refuse = (why) => { throw new Error(why); };
export const lower = (headers) =>
  Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
export const header = (headers, name) => lower(headers)[name] ?? '';
export const mac = (algorithm, key, encoding, ...parts) =>
  parts.reduce((hmac, part) => hmac.update(part), createHmac(algorithm, key)).digest(encoding);

/** Returns the version of an installed package. */
export const version = (name) =>
  JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url))).version;
