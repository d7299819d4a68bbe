import { Problem } from '../../../../api/client';
import type { Verdict } from '../../../../api/shapes';
import { explain, type Explanation } from './explanation';

/**
 * Returns a key for what an event's explanation depends on: its verdict and its causes. Explaining stores the causes
 * that it finds; `Explained` counts them in, so they make no new version.
 */
export function versionOf(verdict: Verdict, causes: readonly { code: string }[]): string {
  return [verdict, ...causes.map(({ code }) => code)].join(' ');
}

/** The explanation of one event's verdict. It is requested only while it is visible, and aborted otherwise. */
export class Explained {
  data: Explanation | null = $state.raw(null);
  problem: Problem | null = $state.raw(null);
  loading = $state(false);
  /** The secret that the user chose; null means the one with which the event was verified. */
  secret: string | null = $state(null);

  readonly #id: string;
  #under: AbortController | null = null;
  #version: string | null = null;

  constructor(id: string) {
    this.#id = id;
  }

  /** Requests the explanation unless one for this version is loaded or loading. */
  want(version: string): void {
    if (version === this.#version) return;
    this.#version = version;
    void this.read();
  }

  /** Explains the verdict with another secret. */
  choose(secret: string): void {
    this.secret = secret;
    void this.read();
  }

  /** Requests the explanation again. The old one stays until the answer comes. */
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

  /** Aborts a running request; the next `want` asks again. */
  cancel(): void {
    if (this.loading) this.#version = null;
    this.close();
  }

  /** Aborts a running request. */
  close(): void {
    this.#under?.abort();
    this.#under = null;
    this.loading = false;
  }
}
