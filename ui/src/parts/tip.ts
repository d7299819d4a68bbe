import { mount, unmount } from 'svelte';
import type { Attachment } from 'svelte/attachments';

import Tip from './Tip.svelte';

export type Side = 'bottom' | 'right';

/** How long the pointer rests until the text appears, and how soon after the last one the next appears at once. */
const [REST, SKIP] = [400, 200];

let last = -Infinity;
let number = 0;

/**
 * Shows a text beside an element while the pointer rests on it or it has keyboard focus. There is one on nearly every
 * icon, so nothing is drawn until then.
 */
export function tip(text: () => string, side: Side): Attachment<HTMLElement> {
  return (element) => {
    const tooltip = new Tooltip(element, text, side);
    const over = new AbortController();
    const on = (name: string, does: (event: Event) => void) =>
      element.addEventListener(name, does, { signal: over.signal });
    on('pointerenter', (event) => (event as PointerEvent).pointerType !== 'touch' && tooltip.soon());
    for (const name of ['pointerleave', 'pointerdown', 'blur', 'click']) on(name, () => tooltip.hide());
    on('focus', () => element.matches(':focus-visible') && tooltip.show());
    return () => {
      over.abort();
      tooltip.hide();
    };
  };
}

class Tooltip {
  #shown: Record<string, unknown> | undefined;
  #wait: ReturnType<typeof setTimeout> | undefined;
  #away = new AbortController();

  constructor(
    private readonly of: HTMLElement,
    private readonly text: () => string,
    private readonly side: Side,
  ) {}

  /** Shows it once the pointer has rested. */
  soon(): void {
    clearTimeout(this.#wait);
    this.#wait = setTimeout(() => this.show(), performance.now() - last < SKIP ? 0 : REST);
  }

  show(): void {
    clearTimeout(this.#wait);
    if (this.#shown || !this.text() || !this.of.isConnected) return;
    const id = `tip-${++number}`;
    const { of, side, text } = this;
    this.#shown = mount(Tip, {
      target: document.body,
      props: {
        id,
        side,
        of,
        get text() {
          return text();
        },
      },
    });
    of.setAttribute('aria-describedby', id);
    this.#away = new AbortController();
    const { signal } = this.#away;
    document.addEventListener('keydown', ({ key }) => key === 'Escape' && this.hide(), {
      signal,
      capture: true,
    });
    document.addEventListener('scroll', () => this.hide(), { signal, capture: true });
  }

  hide(): void {
    clearTimeout(this.#wait);
    if (!this.#shown) return;
    last = performance.now();
    this.#away.abort();
    this.of.removeAttribute('aria-describedby');
    void unmount(this.#shown);
    this.#shown = undefined;
  }
}
