import { isTauri } from '@tauri-apps/api/core';

import { browser } from './browser';
import { inWindow } from './window';

/** Callbacks of a live stream. */
export interface Stream {
  /** The stream is open: it reports everything that happens from now on. */
  open: () => void;
  frame: (name: string, data: unknown) => void;
  /** The page is not authorised any more. */
  refused: () => void;
}

/** The connection to the API. Only this folder knows whether the page runs in the desktop window or in a browser. */
export interface Transport {
  send(request: Request): Promise<Response>;
  /** Saves what the API returns at `path` as a file; returns the file's name or path. */
  save(path: string, name: string): Promise<string>;
  /** Reads the stream at `path` until it ends or `signal` aborts. */
  live(path: string, stream: Stream, signal: AbortSignal): Promise<void>;
  /** Prepares for the first request; returns false if this page is not authorised. */
  open(): Promise<'opened' | 'closed' | 'expired'>;
  /** Whether the page runs in the desktop window. */
  readonly desktop: boolean;
}

export const transport: Transport = isTauri() ? inWindow : browser;
