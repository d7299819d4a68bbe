import { invoke } from '@tauri-apps/api/core';
import { listen } from '@tauri-apps/api/event';

import { transport } from './index';

/** What closing the window does. */
export type OnClose = 'ask' | 'keep' | 'quit';

/** What the window tells of itself. */
export interface ShellInfo {
  version: string;
  platform: string;
  /** There is a tray that a hidden window can be called back from. */
  tray: boolean;
  dataDir: string;
  /** The remembered answer to what closing does; null: it asks. */
  onClose?: 'keep' | 'quit' | null;
}

/** How far the core behind the window is. */
export type CoreState =
  | { state: 'starting' }
  | { state: 'running'; capture: string[]; attached: boolean; warnings: string[] }
  | { state: 'failed'; code: string; message: string; hint: string | null };

/** What only a desktop window can do; a browser has none of it. */
export interface Shell {
  info(): Promise<ShellInfo>;
  state(): Promise<CoreState>;
  onState(handler: (state: CoreState) => void): Promise<() => void>;
  /** Starts the core again after a failure, on another port where one is given. */
  start(port: number | null): Promise<void>;
  /** Somebody closes the window, and has not said yet what that should mean. */
  onCloseAsked(handler: () => void): Promise<() => void>;
  /** `keep` null: the window stays open. */
  answerClose(keep: boolean | null, remember: boolean): Promise<void>;
  setOnClose(answer: OnClose): Promise<void>;
}

const window: Shell = {
  info: () => invoke('desktop_info'),
  state: () => invoke('desktop_state'),
  onState: (handler) => listen<CoreState>('desktop-state', (event) => handler(event.payload)),
  start: (port) => invoke('desktop_start', { port }),
  onCloseAsked: (handler) => listen('close-asked', () => handler()),
  answerClose: (keep, remember) => invoke('close_answer', { keep, remember }),
  setOnClose: (answer) => invoke('set_on_close', { answer: answer === 'ask' ? null : answer }),
};

/** The window's shell; null in a browser. */
export const shell: Shell | null = transport.desktop ? window : null;
