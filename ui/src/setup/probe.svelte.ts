import { placeOf, readTarget } from './target-url';

/** What is known of a target that is being typed. */
export type Probed =
  | { state: 'nothing' }
  | { state: 'wrong'; problem: string }
  | { state: 'looking'; place: string }
  | { state: 'answers'; place: string }
  | { state: 'silent'; place: string }
  | { state: 'refused'; problem: string };

/** Asks whether somebody answers; a rejection says why the target can't be one. */
export type Ask = (url: string, signal: AbortSignal) => Promise<boolean>;

/** How long typing rests before the port is asked. */
const REST = 300;

/** Looks whether a target answers while it is typed: the latest text counts, earlier answers are dropped. */
export class Probe {
  now = $state.raw<Probed>({ state: 'nothing' });
  #ask: Ask;
  #wait: ReturnType<typeof setTimeout> | undefined;
  #asked: AbortController | undefined;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Looks at this text; asks at once where `rest` is 0. */
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

  /** Asks no more. */
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
