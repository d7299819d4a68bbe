import { transport } from './transport';
import type { Stream } from './transport';

/** What is done with a stream that is kept open. */
export interface KeptStream extends Stream {
  /** It ended, or could not be opened; it is tried again. */
  lost: () => void;
}

const FIRST_WAIT = 250;
const LONGEST_WAIT = 5_000;

/** Keeps the stream at `path` open until `signal` says so: after a loss it is asked for again, soon at first. */
export async function keepLive(path: string, stream: KeptStream, signal: AbortSignal): Promise<void> {
  let wait = FIRST_WAIT;
  const open = () => {
    wait = FIRST_WAIT;
    stream.open();
  };
  while (!signal.aborted) {
    await transport.live(path, { ...stream, open }, signal).catch(() => undefined); // an end like any other
    if (signal.aborted) return;
    stream.lost();
    await pause(wait, signal);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }
}

/** Waits, but no longer than until the page comes back to sight or to the network. */
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
