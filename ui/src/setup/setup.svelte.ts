import { untrack } from 'svelte';

import { Problem } from '../api/client';
import { sources } from '../state/sources.svelte';
import { listProviders, listSecrets } from './calls';
import type { Provider, SecretEntry, SourceView, TargetView } from './types';

/** Sources with their secrets and targets, as they are kept. */
class Setup {
  secrets = $state.raw<SecretEntry[]>([]);
  providers = $state.raw<Provider[]>([]);
  /** Whether all of it was read once. */
  loaded = $state(false);
  /** Why the last reading failed. */
  problem = $state.raw<Problem | null>(null);

  get sources(): SourceView[] {
    return sources.list as SourceView[];
  }

  get targets(): TargetView[] {
    return sources.targets as TargetView[];
  }

  /** Reads everything anew: at first, and after a change of our own. */
  async refresh(): Promise<void> {
    await this.#try(() => sources.read());
    await this.readSecrets();
  }

  /** Reads what comes beside the sources; those are read again by themselves when something changes elsewhere. */
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

  /** One source. */
  source(slug: string): SourceView | undefined {
    return this.sources.find((source) => source.slug === slug);
  }

  /** The secrets of one source. */
  secretsOf(slug: string): SecretEntry[] {
    return this.secrets.filter((secret) => secret.source === slug);
  }

  /** The targets that get a source's events: its own, and those of every source. */
  targetsOf(slug: string): TargetView[] {
    return this.targets.filter((target) => target.source === slug || target.source == null);
  }

  /** The URL that events of a source are caught at; null where nothing captures. */
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
