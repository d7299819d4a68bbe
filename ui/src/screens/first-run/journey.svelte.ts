import { Problem } from '../../api/client';
import { addSource, changeSource, inWords, removeSource, sendSample } from '../../setup/calls';
import { signedHow } from '../../setup/secret';
import { setup } from '../../setup/setup.svelte';
import { slugFor } from '../../setup/slug';
import type { Provider } from '../../setup/types';
import { moveFor, renamed, type Move } from './journey';

/** The source's name in the URL until the user chooses something; the command line suggests it too. */
const FIRST_SLUG = 'demo';

/** The state of the first screen: which source it sets up. What is already done is read from the saved settings. */
class Journey {
  slug = $state(FIRST_SLUG);
  typed = $state(false);
  /** Why a step could not be saved, in words. */
  problem = $state<string | null>(null);
  /** Why the test event could not be sent, in words. */
  notSent = $state<string | null>(null);
  sending = $state(false);
  /** The inbox was seen empty, so the first event opens by itself, even if the count shows it before the list does. */
  waits = $state(false);
  #fresh: string | null = null;
  #begun = false;
  #last = Promise.resolve();

  readonly source = $derived(setup.source(this.slug));
  readonly provider: Provider | null = $derived(this.#named(this.source?.provider ?? null));
  readonly secrets = $derived(setup.secretsOf(this.slug));
  readonly targets = $derived(setup.targetsOf(this.slug));
  readonly url = $derived(setup.urlOf(this.slug));
  /** The provider whose sample is sent: the chosen one, else the most used one that can be sent. */
  readonly sender = $derived(this.provider ?? setup.providers.find((provider) => provider.can_send) ?? null);

  /** Starts with an existing source, if there is one. */
  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    const first = setup.sources.find((source) => !source.auto_created) ?? setup.sources[0];
    if (first !== undefined) this.slug = first.slug;
  }

  /** Chooses a provider and shows its source, which is added or changed if necessary. */
  pick(provider: string): Promise<void> {
    return this.#afterLast(() =>
      this.#do(moveFor(this.#now(), provider, slugFor(provider), setup.sources), provider),
    );
  }

  /** Makes the source if it is not there yet, for what can’t wait for its first event. */
  async exist(): Promise<void> {
    await this.#last;
    if (this.source !== undefined && this.source !== null) return;
    await addSource(this.slug, {});
    this.#fresh = this.slug;
    await setup.refresh();
  }

  /** Names the source. */
  rename(slug: string): Promise<void> {
    return this.#afterLast(() => {
      const provider = this.source?.provider ?? null;
      const move = renamed(this.#now(), slug, setup.sources);
      this.typed = true;
      return this.#do(move, provider);
    });
  }

  /** Sends a sample through the capture port, as its provider would. Returns the event, and how it was signed. */
  async send(): Promise<{ event: string | null; how: string } | null> {
    const { sender, url } = this;
    if (sender === null || url === null || this.sending) return null;
    this.sending = true;
    this.notSent = null;
    try {
      const sent = await sendSample(sender.id, this.slug, url);
      const [line] = sent.items;
      if (line?.status !== 'completed' && line?.event_id == null) {
        this.notSent = `The test event was not captured: ${line?.error ?? 'no answer'}.`;
        return null;
      }
      this.#fresh = null;
      return { event: line.event_id ?? null, how: signedHow(sent) };
    } catch (error) {
      this.notSent = inWords(Problem.of(error));
      return null;
    } finally {
      this.sending = false;
    }
  }

  /** Runs moves one after the other, because each starts from the result of the last. */
  #afterLast(move: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(move);
    return this.#last;
  }

  #now() {
    return { slug: this.slug, typed: this.typed, fresh: this.#untouched() };
  }

  async #do(move: Move, provider: string | null): Promise<void> {
    const before = this.slug;
    this.slug = move.slug;
    this.problem = null;
    try {
      if (move.todo === 'add') await addSource(move.slug, { provider });
      if (move.todo === 'change') await changeSource(move.slug, { provider });
      if (move.remove !== null) await removeSource(move.remove);
      if (move.todo === 'add') this.#fresh = move.slug;
      else if (move.remove !== null) this.#fresh = null;
    } catch (error) {
      this.slug = before;
      this.problem = inWords(Problem.of(error));
    }
    await setup.refresh();
  }

  /** Returns the source that this screen created, as long as it has no secret and no target. */
  #untouched(): string | null {
    const fresh = this.#fresh;
    if (fresh === null || setup.secretsOf(fresh).length > 0) return null;
    return setup.targets.some((target) => target.source === fresh) ? null : fresh;
  }

  #named(id: string | null): Provider | null {
    if (id === null) return null;
    return (
      setup.providers.find((provider) => provider.id === id) ?? {
        id,
        name: id,
        can_send: false,
        sample_types: [],
        secret_hint: null,
        confidence: 'corroborated',
        params: [],
        private_key: false,
      }
    );
  }
}

/** The page's only journey, so that the screen is unchanged when somebody comes back to it. */
export const journey = new Journey();
