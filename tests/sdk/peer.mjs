// A long-lived process that signs and verifies with the providers' own SDKs.
// In:  {"id", "op": "versions" | "sign" | "verify", "sdk", "secret", "body_base64", "headers"?, "method"?, "url"?,
//       "scheme"?, "params"?, "private_key"? (PEM), "public_key"? (as the provider shows it),
//       "now_unix"?}
// Out: {"id", "ok", "versions" | "headers", "body_base64"?, "url"?, "signed_by" | "verified", "error"?}, one line for
//      each, in order. Without "now_unix" it is now.
import { createInterface } from 'node:readline';

import { sign, verify, versions } from './sdks.mjs';

const realNow = Date.now;
// Our output is the protocol, so the SDKs' own messages are discarded.
for (const name of ['log', 'debug', 'info']) console[name] = () => {};

async function answer({ op, sdk, body_base64: body = '', ...order }) {
  const given = { method: 'POST', url: 'http://localhost/', headers: [], params: {}, ...order, body: Buffer.from(body, 'base64') };
  if (op === 'versions') return { versions: versions() };
  if (op === 'sign') {
    const { body: made, ...signed } = await sign(sdk, given);
    return { ...signed, body_base64: made?.toString('base64') };
  }
  if (op !== 'verify') throw new Error(`unknown op ${op}`);
  try {
    await verify(sdk, given);
    return { verified: true };
  } catch (error) {
    return { verified: false, error: String(error?.message ?? error) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  if (!line.trim()) continue;
  const order = JSON.parse(line);
  // The SDKs read the clock themselves, so it is set for this order only.
  if (order.now_unix !== undefined) Date.now = () => order.now_unix * 1000;
  let reply;
  try {
    reply = { ok: true, ...(await answer(order)) };
  } catch (error) {
    reply = { ok: false, error: String(error?.message ?? error) };
  } finally {
    Date.now = realNow;
  }
  process.stdout.write(`${JSON.stringify({ id: order.id, ...reply })}\n`);
}
