// Sends a request over a real connection, and reports what a handler at the other end sees.
import { createServer, request as open } from 'node:http';

export async function read(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

export const listen = (server, port = 0) =>
  new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server.address().port)));
export const pairs = (raw) => raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1]]] : []));

/// Sends a signed request to its path at 127.0.0.1; the answer is JSON with what was seen there.
export async function send(port, { method, url, headers, body }, path) {
  const { pathname, search } = new URL(url);
  const answer = await new Promise((resolve, reject) => {
    const call = open(
      {
        host: '127.0.0.1',
        port,
        method,
        path: path ?? pathname + search,
        headers: headers.flat(),
        setHost: false,
        agent: false,
      },
      resolve,
    );
    call.on('error', reject);
    call.end(body);
  });
  const seen = JSON.parse(await read(answer));
  return { ...seen, body: Buffer.from(seen.body, 'base64') };
}

/// Answers each request with the result of `handle` as JSON.
export function answering(handle) {
  return async (request, response) => {
    const seen = await handle(request);
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ ...seen, body: Buffer.from(seen.body).toString('base64') }));
  };
}

/// Makes a handler behind a proxy: it builds the URL as a framework does, from the Host header that it sees.
export const handler = () =>
  createServer(
    answering(async (request) => ({
      method: request.method,
      url: `http://${request.headers.host}${request.url}`,
      headers: pairs(request.rawHeaders),
      body: await read(request),
    })),
  );
