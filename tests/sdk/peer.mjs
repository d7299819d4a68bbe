// A long-lived process that signs and verifies with the providers' own SDKs.
// In:  {"id", "op": "versions" | "sign" | "verify", "sdk", "secret", "body_base64", "headers"?, "method"?, "url"?, "now_unix"?}
// Out: {"id", "ok", "versions" | "headers", "signed_by" | "verified", "error"?}, one line for each, in order.
import { createInterface } from 'node:readline';

import { sign, verify, versions } from './sdks.mjs';

const realNow = Date.now;

async function answer(order) {
  const { op, sdk, secret, headers = [], method, url } = order;
  const given = { secret, headers, method, url, body: Buffer.from(order.body_base64 ?? '', 'base64') };
  if (op === 'versions') return { versions: versions() };
  if (op === 'sign') return sign(sdk, given);
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
  // The SDKs read the clock themselves: it is set for this one order.
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
