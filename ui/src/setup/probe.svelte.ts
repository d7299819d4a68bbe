import { placeOf, readTarget } from './target-url';

/** What is known about a target while it is typed. */
export type Probed =
  | { state: 'nothing' }
  | { state: 'wrong'; problem: string }
  | { state: 'looking'; place: string }
  | { state: 'answers'; place: string }
  | { state: 'silent'; place: string }
  | { state: 'refused'; problem: string };

/** Asks whether a server answers; a rejection says why the URL can't be a target. */
export type Ask = (url: string, signal: AbortSignal) => Promise<boolean>;

/** How long to wait after the last key press before the port is probed, in milliseconds. */
const REST = 300;

/** Probes a target while it is typed: only the latest text counts, answers for earlier ones are dropped. */
export class Probe {
  now = $state.raw<Probed>({ state: 'nothing' });
  #ask: Ask;
  #wait: ReturnType<typeof setTimeout> | undefined;
  #asked: AbortController | undefined;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Probes this text; at once if `rest` is 0. */
  look(text: string, rest = REST): void {
    this.stop();
    if (text.trim() === '') {
      this.now = { state: 'nothing' };
      return;
    }
    const target = readTarget(text);
    if (!target.ok) {
      this.now = { state: 'wrong', problem: target.problem };
      return;
    }
    const place = placeOf(target);
    this.now = { state: 'looking', place };
    this.#wait = setTimeout(() => void this.#find(target.url, place), rest);
  }

  /** Stops probing. */
  stop(): void {
    clearTimeout(this.#wait);
    this.#asked?.abort();
  }

  async #find(url: string, place: string): Promise<void> {
    const asked = new AbortController();
    this.#asked = asked;
    try {
      const answers = await this.#ask(url, asked.signal);
      if (!asked.signal.aborted) this.now = { state: answers ? 'answers' : 'silent', place };
    } catch (error) {
      if (asked.signal.aborted) return;
      this.now = { state: 'refused', problem: error instanceof Error ? error.message : String(error) };
    }
  }
}
