import type { Transport } from './index';
import { Frames } from './frames';

/** Milliseconds after which a download has surely read its blob. */
const FETCHED_BY = 60_000;

const KEY = 'hookmitt.token';

/** Returns this tab's token; in development a placeholder, because the proxy adds the real token. */
function token(): string | null {
  return sessionStorage.getItem(KEY) ?? (import.meta.env.DEV ? 'development' : null);
}

/** Takes the one-time code from the URL that hookmitt opened, and removes it from the address bar first. */
function takeCode(): string | null {
  const code = /^#code=([\w-]+)/.exec(location.hash)?.[1];
  if (!code) return null;
  history.replaceState(null, '', location.pathname);
  return code;
}

async function swap(code: string): Promise<boolean> {
  const response = await fetch('/api/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  if (!response.ok) return false;
  const { token } = (await response.json()) as { token: string };
  sessionStorage.setItem(KEY, token);
  return true;
}

function signed(headers: Headers): Headers {
  headers.set('authorization', `Bearer ${token() ?? ''}`);
  return headers;
}

/** Sends requests with fetch, and reads the live stream with fetch too because an EventSource can't send a token. */
export const browser: Transport = {
  desktop: false,

  async open() {
    const code = takeCode();
    if (code && (await swap(code))) return 'opened';
    if (token() !== null) return 'opened';
    return code ? 'expired' : 'closed';
  },

  async send(request) {
    return fetch(new Request(request, { headers: signed(new Headers(request.headers)), cache: 'no-store' }));
  },

  async save(path, name) {
    const response = await this.send(new Request(new URL(path, location.origin)));
    if (!response.ok) throw new Error(`the answer was ${response.status}`);
    // Octet-stream, so that the browser never opens a stranger's content as a page.
    const bytes = new Blob([await response.arrayBuffer()], { type: 'application/octet-stream' });
    const link = document.createElement('a');
    link.href = URL.createObjectURL(bytes);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), FETCHED_BY);
    return name;
  },

  async live(path, stream, signal) {
    const response = await fetch(path, { headers: signed(new Headers()), signal, cache: 'no-store' });
    if (response.status === 401) stream.refused();
    if (!response.ok || !response.body) throw new Error(`the live stream answered ${response.status}`);
    stream.open();
    const frames = new Frames(stream.frame);
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      frames.push(value);
    }
  },
};
