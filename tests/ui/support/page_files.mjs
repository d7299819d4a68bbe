// Serves the page from a folder instead of the binary, so that a change of the UI shows without building hookmitt
// again: HOOKMITT_UI_DIST=ui/dist. The policy is still the binary's own.
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

import { send } from './http.mjs';

const KINDS = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml', '.woff2': 'font/woff2', '.json': 'application/json' };

/** Makes a context take the page's files from the folder. */
export async function fromFolder(context, origin, folder) {
  const { headers } = await send('GET', `${origin}/`);
  const policy = { 'content-security-policy': headers['content-security-policy'], 'x-content-type-options': 'nosniff' };
  await context.route(`${origin}/**`, (route) => {
    const { pathname } = new URL(route.request().url());
    const file = join(folder, pathname === '/' ? 'index.html' : pathname);
    if (pathname.startsWith('/api/') || !existsSync(file)) return route.fallback();
    return route.fulfill({ headers: { ...policy, 'content-type': KINDS[extname(file)] ?? 'application/octet-stream' }, body: readFileSync(file) });
  });
}
