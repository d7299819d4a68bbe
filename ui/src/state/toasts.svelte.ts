import type { Component } from 'svelte';

/** A message at the bottom left that says what was done. */
export interface Toast {
  id: number;
  text: string;
  fails: boolean;
  icon?: Component<Record<string, unknown>> | undefined;
  action?: { label: string; run: () => void } | undefined;
  undo?: (() => void) | undefined;
}

interface Says {
  undo?: (() => void) | undefined;
  /** A way on, in place of undo. */
  action?: Toast['action'];
  icon?: Component<Record<string, unknown>> | undefined;
}

interface Fails {
  retry?: (() => void) | undefined;
  /** An action other than trying again. */
  action?: Toast['action'];
}

const SHOWN = 8_000;
const MOST = 3;

class Toasts {
  list = $state.raw<Toast[]>([]);
  #next = 1;
  #ends = new Map<number, ReturnType<typeof setTimeout>>();

  /** Shows for 8 s what was done. `undo` is offered as a button and as Ctrl Z. */
  say(text: string, { undo, action, icon }: Says = {}): void {
    const toast = this.#show({ text, fails: false, icon, undo, action });
    this.#start(toast.id);
  }

  /** Shows what failed. The message stays until it is dismissed, retried or acted upon. */
  fail(title: string, { retry, action }: Fails = {}): void {
    const again = retry && { label: 'Try again', run: retry };
    this.#show({ text: title, fails: true, action: action ?? again });
  }

  /** Removes a message. */
  dismiss(id: number): void {
    clearTimeout(this.#ends.get(id));
    this.#ends.delete(id);
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  /** Keeps the messages while the pointer or the keyboard focus is on them. */
  hold(): void {
    for (const end of this.#ends.values()) clearTimeout(end);
  }

  /** Starts their 8 s again. */
  release(): void {
    for (const id of [...this.#ends.keys()]) this.#start(id);
  }

  /** Undoes the newest action that can be undone; returns false if there is none. */
  undo(): boolean {
    const toast = this.list.findLast((one) => one.undo);
    if (!toast) return false;
    this.dismiss(toast.id);
    toast.undo?.();
    return true;
  }

  #show(toast: Omit<Toast, 'id'>): Toast {
    const made = { ...toast, id: this.#next++ };
    for (const old of this.list.slice(0, Math.max(0, this.list.length - MOST + 1))) this.dismiss(old.id);
    this.list = [...this.list, made];
    return made;
  }

  #start(id: number) {
    clearTimeout(this.#ends.get(id));
    this.#ends.set(
      id,
      setTimeout(() => this.dismiss(id), SHOWN),
    );
  }
}

export const toasts = new Toasts();
