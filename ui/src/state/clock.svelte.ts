import { wait } from '../format/duration';
import { rowTime } from '../format/time';

/** The page's only clock. It ticks every second while the page is visible, so that all times change together. */
class Clock {
  now = $state(Date.now());

  constructor() {
    if (typeof document === 'undefined') return;
    setInterval(() => this.#tick(), 1000);
    document.addEventListener('visibilitychange', () => this.#tick());
  }

  /** Formats a moment for a row. */
  row(at: number): string {
    return rowTime(at, this.now);
  }

  /** Says when a retry comes that is due at that moment. */
  retry(at: number): string {
    return at <= this.now ? 'Retry now' : `Retry in ${wait(at - this.now)}`;
  }

  #tick() {
    if (!document.hidden) this.now = Date.now();
  }
}

export const clock = new Clock();
