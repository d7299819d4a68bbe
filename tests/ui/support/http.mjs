// Plain HTTP with the header lines exactly as given, because `fetch` would change them.
import { Agent, request } from 'node:http';

/** Returns an agent with persistent connections, for senders of many requests. */
export const keepAlive = (connections) => new Agent({ keepAlive: true, maxSockets: connections });

/** Encodes a header value as bytes: text beyond ASCII is sent as UTF-8. */
const asBytes = (value) => Buffer.from(String(value), 'utf8').toString('latin1');

/** Sends one request; returns `{ status, headers, body }`. `headers` are `[name, value]` pairs, in order. */
export function send(method, url, { headers = [], body = Buffer.alloc(0), agent } = {}) {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body);
  const lines = [...headers.map(([name, value]) => [name, asBytes(value)]), ['Content-Length', String(bytes.length)]];
  if (!lines.some(([name]) => name.toLowerCase() === 'host')) lines.unshift(['Host', new URL(url).host]);
  return new Promise((resolve, reject) => {
    const call = request(url, { method, headers: lines.flat(), agent }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
    });
    call.on('error', reject);
    call.end(bytes);
  });
}
