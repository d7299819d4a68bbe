// An application's webhook endpoint: POST /stripe is verified with Stripe's SDK, and so on.
// Secrets come from HOOKMITT_SECRET_<NAME> or HOOKMITT_SECRET. Prints {"port"} once, then a line for each request.
import { createServer } from 'node:http';

import { sdks, verify } from './sdks.mjs';

// Our output is the protocol, so the SDKs' own messages are discarded.
for (const name of ['log', 'debug', 'info']) console[name] = () => {};

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const secretOf = (name) => process.env[`HOOKMITT_SECRET_${name.toUpperCase()}`] ?? process.env.HOOKMITT_SECRET ?? '';

async function read(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

function pairs(raw) {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1]]] : []));
}

const server = createServer(async (request, response) => {
  const body = await read(request);
  const name = request.url.split(/[/?]/)[1] ?? '';
  const headers = pairs(request.rawHeaders);
  let error = null;
  if (name in sdks) {
    const url = `http://${request.headers.host}${request.url}`;
    const order = { secret: secretOf(name), body, headers, method: request.method, url, params: {} };
    await verify(name, order).catch((problem) => { error = String(problem?.message ?? problem); });
  } else {
    error = `no SDK for ${name}`;
  }
  const status = error === null ? 200 : 400;
  say({ sdk: name, method: request.method, url: request.url, headers, body_base64: body.toString('base64'), status, error });
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ verified: error === null, error }));
});

server.listen(Number(process.env.HOOKMITT_RECEIVER_PORT ?? 0), '127.0.0.1', () => say({ port: server.address().port }));
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0));
// Exits when the parent process closes our input, if it said that it holds it open.
if (process.env.HOOKMITT_RECEIVER_STDIN) process.stdin.on('end', () => process.exit(0)).resume();
