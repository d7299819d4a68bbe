import { isTauri } from '@tauri-apps/api/core';

import { browser } from './browser';
import { inWindow } from './window';

/** What is done with a live stream. */
export interface Stream {
  /** It is open: what happens from now on will be told. */
  open: () => void;
  frame: (name: string, data: unknown) => void;
  /** This page may not ask any more. */
  refused: () => void;
}

/** The way to the API. Only this folder knows whether the page is in the window or in a browser. */
export interface Transport {
  send(request: Request): Promise<Response>;
  /** Saves what the API answers at `path` as a file; gives its name or path. */
  save(path: string, name: string): Promise<string>;
  /** Reads the stream at `path` until it ends or `signal` says so. */
  live(path: string, stream: Stream, signal: AbortSignal): Promise<void>;
  /** What must be done before the first request; false where this page may not ask. */
  open(): Promise<boolean>;
  /** The page is a desktop window. */
  readonly desktop: boolean;
}

export const transport: Transport = isTauri() ? inWindow : browser;
