import { invoke } from '@tauri-apps/api/core';
import { listen } from '@tauri-apps/api/event';

import { transport } from './index';

/** What closing the window does. */
export type OnClose = 'ask' | 'keep' | 'quit';

/** Facts about the desktop window and the program behind it. */
export interface ShellInfo {
  version: string;
  platform: string;
  /** Whether there is a tray from which a hidden window can be shown again. */
  tray: boolean;
  dataDir: string;
  /** The remembered choice of what closing the window does; null if the window asks each time. */
  onClose?: 'keep' | 'quit' | null;
}

/** The state of the core behind the window. */
export type CoreState =
  | { state: 'starting' }
  | { state: 'running'; capture: string[]; attached: boolean; warnings: string[] }
  | { state: 'failed'; code: string; message: string; hint: string | null };

/** What only the desktop window can do. */
export interface Shell {
  info(): Promise<ShellInfo>;
  state(): Promise<CoreState>;
  onState(handler: (state: CoreState) => void): Promise<() => void>;
  /** Starts the core again after a failure, on another port if `port` is given. */
  start(port: number | null): Promise<void>;
  /** Calls `handler` when somebody closes the window and no choice of what that means is remembered. */
  onCloseAsked(handler: () => void): Promise<() => void>;
  /** Answers that question; if `keep` is null, the window stays open. */
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
