import { wait } from '../format/duration';
import { rowTime } from '../format/time';

/** The one clock of the page: it ticks each second while the page can be seen, so that all times change together. */
class Clock {
  now = $state(Date.now());

  constructor() {
    if (typeof document === 'undefined') return;
    setInterval(() => this.#tick(), 1000);
    document.addEventListener('visibilitychange', () => this.#tick());
  }

  /** A moment as a row shows it. */
  row(at: number): string {
    return rowTime(at, this.now);
  }

  /** The words of a retry that comes at that moment. */
  retry(at: number): string {
    return at <= this.now ? 'Retry now' : `Retry in ${wait(at - this.now)}`;
  }

  #tick() {
    if (!document.hidden) this.now = Date.now();
  }
}

export const clock = new Clock();
