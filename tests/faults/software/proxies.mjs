// Real proxies in front of a handler: nginx and http-proxy.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import httpProxy from 'http-proxy';

import { handler, listen, send } from './http.mjs';

// The `server` blocks of nginx.conf, in the same order.
const SERVERS = [
  'plain',
  'forwarded',
  'stripped',
  'prefixed',
  'port',
  'query dropped',
  'slash',
  'silent',
  'auth renamed',
  'auth dropped',
];

async function freePort() {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function startNginx(backend) {
  const folder = mkdtempSync(join(tmpdir(), 'faults-nginx-'));
  const ports = [];
  for (const _ of SERVERS) ports.push(await freePort());
  let conf = readFileSync(new URL('nginx.conf', import.meta.url), 'utf8')
    .replaceAll('@folder@', folder)
    .replaceAll('@backend@', `127.0.0.1:${backend}`);
  ports.forEach((port, at) => {
    conf = conf.replaceAll(`@port${at}@`, `127.0.0.1:${port}`);
  });
  writeFileSync(join(folder, 'nginx.conf'), conf);
  const child = spawn(
    'nginx',
    ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr', '-g', 'daemon off; master_process off;'],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const gone = new Promise((resolve) => child.on('exit', resolve));
  const end = async () => {
    child.kill('SIGTERM');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', () => child.kill('SIGTERM'));
  for (let tries = 0; ; tries += 1) {
    try {
      await send(ports[0], { method: 'GET', url: 'http://x/', headers: [['Host', 'x']], body: Buffer.alloc(0) });
      break;
    } catch (error) {
      if (tries > 100) throw error;
      await pause(50);
    }
  }
  return { ports: Object.fromEntries(SERVERS.map((name, at) => [name, ports[at]])), end };
}

async function startHttpProxy(backend, options) {
  const proxy = httpProxy.createProxyServer({ target: `http://127.0.0.1:${backend}`, ...options });
  const server = createServer((request, response) => proxy.web(request, response));
  const port = await listen(server);
  server.unref();
  return port;
}

/// Starts all proxies: `nginx(name, request)` and `nodeProxy(name, request)` return what the handler behind them sees.
export async function startProxies() {
  const backend = await listen(handler().unref());
  const nginx = await startNginx(backend);
  const node = {
    changeOrigin: await startHttpProxy(backend, { changeOrigin: true, xfwd: false }),
    xfwd: await startHttpProxy(backend, { changeOrigin: true, xfwd: true }),
    prepend: await startHttpProxy(backend, { target: `http://127.0.0.1:${backend}/internal`, xfwd: false }),
    plain: await startHttpProxy(backend, {}),
  };
  return {
    nginx: (name, request) => send(nginx.ports[name], request),
    nodeProxy: (name, request) => send(node[name], request),
    end: nginx.end,
  };
}
