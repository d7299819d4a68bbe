// Express and its body parsers, each as an application that returns what it parsed.
import express from 'express';
import { createServer } from 'node:http';
import { stringify as querystring } from 'node:querystring';
import qs from 'qs';
import stable from 'json-stable-stringify';

import { answering, listen, pairs, read, send } from './http.mjs';

const json = () => express.json({ type: () => true, limit: '1mb' });
const form = (extended) => express.urlencoded({ type: () => true, extended, limit: '1mb' });
const text = (charset) => express.text({ type: () => true, defaultCharset: charset, limit: '1mb' });

const APPS = {
  'JSON.stringify': [json(), ({ body }) => JSON.stringify(body)],
  'JSON.stringify 2': [json(), ({ body }) => JSON.stringify(body, null, 2)],
  'JSON.stringify 4': [json(), ({ body }) => JSON.stringify(body, null, 4)],
  'JSON.stringify tab': [json(), ({ body }) => JSON.stringify(body, null, '\t')],
  'JSON.stringify twice': [express.text({ type: () => true }), ({ body }) => JSON.stringify(body)],
  'stable-stringify': [json(), ({ body }) => stable(body)],
  'String(req.body)': [json(), ({ body }) => String(body)],
  qs: [form(true), ({ body }) => qs.stringify(body)],
  'qs RFC1738': [form(true), ({ body }) => qs.stringify(body, { format: 'RFC1738' })],
  URLSearchParams: [form(false), ({ body }) => new URLSearchParams(body).toString()],
  querystring: [form(false), ({ body }) => querystring(body)],
  'form as JSON': [form(false), ({ body }) => JSON.stringify(body)],
  'payload as JSON': [form(false), ({ body }) => JSON.stringify(JSON.parse(body.payload))],
  'payload field': [form(false), ({ body }) => body.payload],
  decodeURIComponent: [text('utf-8'), ({ body }) => decodeURIComponent(body.replaceAll('+', ' '))],
  'text latin1': [text('latin1'), ({ body }) => body],
  'raw inflated': [express.raw({ type: () => true, inflate: true }), ({ body }) => body],
  'read already': [drained, ({ body }) => body ?? ''],
};

// A middleware that reads the stream for its log and doesn't keep it.
async function drained(request, _response, next) {
  await read(request);
  next();
}

const ports = new Map();

async function start(name) {
  const [parser, write] = APPS[name];
  const app = express();
  app.use(
    parser,
    answering((request) => ({
      method: request.method,
      url: request.url,
      headers: pairs(request.rawHeaders),
      body: write(request),
    })),
  );
  const server = createServer(app);
  const port = await listen(server);
  server.unref();
  return port;
}

/// Returns the body that the application got, and the headers that it saw.
export async function throughExpress(name, request) {
  if (!ports.has(name)) ports.set(name, start(name));
  return send(await ports.get(name), request);
}
