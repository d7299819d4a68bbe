// Plain HTTP with the header lines exactly as given, which `fetch` would not leave alone.
import { Agent, request } from 'node:http';

/** Connections that are kept, for whoever sends much. */
export const keepAlive = (connections) => new Agent({ keepAlive: true, maxSockets: connections });

/** Header values travel as bytes: text beyond ASCII goes out as UTF-8. */
const asBytes = (value) => Buffer.from(String(value), 'utf8').toString('latin1');

/** Sends one request; answers `{ status, headers, body }`. `headers` are `[name, value]` pairs, in order. */
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
