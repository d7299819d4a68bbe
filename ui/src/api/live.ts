import { transport } from './transport';
import type { Stream } from './transport';

/** Callbacks of a stream that is reopened whenever it ends. */
export interface KeptStream extends Stream {
  /** The stream ended or could not be opened; another attempt follows. */
  lost: () => void;
}

const FIRST_WAIT = 250;
const LONGEST_WAIT = 5_000;

/**
 * Keeps the stream at `path()` open until `signal` aborts. After a loss it reconnects, with waits that grow to 5 s.
 */
export async function keepLive(path: () => string, stream: KeptStream, signal: AbortSignal): Promise<void> {
  let wait = FIRST_WAIT;
  const open = () => {
    wait = FIRST_WAIT;
    stream.open();
  };
  while (!signal.aborted) {
    await transport.live(path(), { ...stream, open }, signal).catch(() => undefined); // treated like the stream's end
    if (signal.aborted) return;
    stream.lost();
    await pause(wait, signal);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }
}

/** Waits `ms` milliseconds, or less if the page's visibility changes or the network comes back. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const done = () => {
      clearTimeout(timer);
      over.abort();
      resolve();
    };
    const timer = setTimeout(done, ms);
    const until = { signal: over.signal };
    window.addEventListener('online', done, until);
    document.addEventListener('visibilitychange', done, until);
    signal.addEventListener('abort', done, until);
  });
}
