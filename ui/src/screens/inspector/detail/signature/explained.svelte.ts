import { Problem } from '../../../../api/client';
import type { Verdict } from '../../../../api/shapes';
import { explain, type Explanation } from './explanation';

/** What of an event its explanation depends on. Explaining keeps the causes that it finds, which makes no new version. */
export function versionOf(verdict: Verdict, causes: readonly { code: string }[]): string {
  return [verdict, ...causes.map(({ code }) => code)].join(' ');
}

/** Why one event has its verdict. It is asked for only when somebody looks, and what is no longer looked for ends. */
export class Explained {
  data: Explanation | null = $state.raw(null);
  problem: Problem | null = $state.raw(null);
  loading = $state(false);
  /** The secret that was chosen; null: the one that the event is judged by. */
  secret: string | null = $state(null);

  readonly #id: string;
  #under: AbortController | null = null;
  #version: string | null = null;

  constructor(id: string) {
    this.#id = id;
  }

  /** Asks, unless what is there, or under way, is of this version of the event. */
  want(version: string): void {
    if (version === this.#version) return;
    this.#version = version;
    void this.read();
  }

  /** Explains it by another secret. */
  choose(secret: string): void {
    this.secret = secret;
    void this.read();
  }

  /** Asks again. What is there stays until the answer comes. */
  async read(): Promise<void> {
    this.close();
    const under = new AbortController();
    this.#under = under;
    this.loading = true;
    try {
      const data = await explain(this.#id, this.secret, under.signal);
      if (under.signal.aborted) return;
      this.data = data;
      const found = data.causes.filter(({ state }) => state !== 'ruled_out');
      if (this.secret === null) this.#version = versionOf(data.verdict, found);
      this.problem = null;
    } catch (error) {
      if (under.signal.aborted) return;
      this.problem = Problem.of(error);
    }
    this.loading = false;
  }

  /** Ends what is under way, and forgets that it was asked. */
  cancel(): void {
    if (this.loading) this.#version = null;
    this.close();
  }

  /** Ends what is under way. */
  close(): void {
    this.#under?.abort();
    this.#under = null;
    this.loading = false;
  }
}
