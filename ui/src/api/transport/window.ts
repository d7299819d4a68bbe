import { Channel, invoke } from '@tauri-apps/api/core';

import type { Transport } from './index';
import { pack, unpack } from './packed';

interface AnswerHead {
  status: number;
  headers: [string, string][];
}

interface Frame {
  name: string;
  data: unknown;
}

/** Statuses with which a Response may not have a body. */
const BARE = new Set([101, 204, 205, 304]);

/** Sends requests to the router in the same process; no port is needed. */
export const inWindow: Transport = {
  desktop: true,

  open: () => Promise.resolve('opened'),

  async send(request) {
    const url = new URL(request.url);
    const head = {
      method: request.method,
      path: url.pathname + url.search,
      headers: [...request.headers],
    };
    const body = new Uint8Array(await request.arrayBuffer());
    const answer = unpack<AnswerHead>(await invoke<ArrayBuffer>('api', pack(head, body)));
    const { status, headers } = answer.head;
    return new Response(BARE.has(status) ? null : answer.body, { status, headers });
  },

  async save(path, name) {
    const head = { method: 'GET', path, headers: [['x-hookmitt-save-as', name]] };
    return invoke<string>('save_file', pack(head, new Uint8Array())).catch((error: unknown) => {
      const isFailure = typeof error === 'object' && error !== null && 'message' in error;
      throw new Error(isFailure ? String(error.message) : String(error));
    });
  },

  async live(path, stream, signal) {
    signal.throwIfAborted();
    const channel = new Channel<Frame | null>();
    const ended = new Promise<void>((resolve) => {
      channel.onmessage = (frame) => (frame ? stream.frame(frame.name, frame.data) : resolve());
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const id = await invoke<number>('live', { path, channel });
    stream.open();
    await ended;
    await invoke('live_stop', { id });
  },
};
