import { untrack } from 'svelte';

import { Problem } from '../api/client';
import { sources } from '../state/sources.svelte';
import { listProviders, listSecrets } from './calls';
import type { Provider, SecretEntry, SourceView, TargetView } from './types';

/** The saved sources with their secrets and targets. */
class Setup {
  secrets = $state.raw<SecretEntry[]>([]);
  providers = $state.raw<Provider[]>([]);
  /** Whether everything was read once. */
  loaded = $state(false);
  /** Why the last read failed. */
  problem = $state.raw<Problem | null>(null);

  get sources(): SourceView[] {
    return sources.list as SourceView[];
  }

  get targets(): TargetView[] {
    return sources.targets as TargetView[];
  }

  /** Reads everything: at first, and after a change made here. */
  async refresh(): Promise<void> {
    await this.#try(() => sources.read());
    await this.readSecrets();
  }

  /** Reads secrets and providers. The sources are read again elsewhere whenever something changes. */
  async readSecrets(): Promise<void> {
    await this.#try(async () => {
      const provided = this.providers.length > 0 ? this.providers : listProviders();
      [this.secrets, this.providers] = await Promise.all([listSecrets(), provided]);
      this.loaded = true;
      this.problem = null;
    });
  }

  /** Follows changes made elsewhere; call it in an effect. */
  follow(): void {
    void sources.list;
    untrack(() => void (this.loaded ? this.readSecrets() : this.refresh()));
  }

  /** Returns one source. */
  source(slug: string): SourceView | undefined {
    return this.sources.find((source) => source.slug === slug);
  }

  /** Returns the secrets of one source. */
  secretsOf(slug: string): SecretEntry[] {
    return this.secrets.filter((secret) => secret.source === slug);
  }

  /** Returns the targets that get a source's events: its own, and those of all sources. */
  targetsOf(slug: string): TargetView[] {
    return this.targets.filter((target) => target.source === slug || target.source == null);
  }

  /** Returns the URL at which a source's events are captured; null if this process does not capture. */
  urlOf(slug: string): string | null {
    const [base] = sources.capture;
    return base === undefined ? null : `${base}/${slug}`;
  }

  async #try(read: () => Promise<void>): Promise<void> {
    try {
      await read();
    } catch (error) {
      this.problem = Problem.of(error);
    }
  }
}

export const setup = new Setup();
