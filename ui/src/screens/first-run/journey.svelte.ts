import { Problem } from '../../api/client';
import { addSource, changeSource, inWords, removeSource, sendSample } from '../../setup/calls';
import { signedHow } from '../../setup/secret';
import { setup } from '../../setup/setup.svelte';
import { slugFor } from '../../setup/slug';
import type { Provider } from '../../setup/types';
import { moveFor, renamed, type Move } from './journey';

/** The name in the URL until something is chosen; the command line suggests it too. */
const FIRST_SLUG = 'demo';

/** The first screen's state: which source it is about. What is done of it is read from what is kept. */
class Journey {
  slug = $state(FIRST_SLUG);
  typed = $state(false);
  /** A step that could not be saved, in words. */
  problem = $state<string | null>(null);
  /** The same of the test event. */
  notSent = $state<string | null>(null);
  sending = $state(false);
  /** The inbox was seen empty, and what comes first will be opened. The count may tell of it before the list does. */
  waits = $state(false);
  #fresh: string | null = null;
  #begun = false;
  #last = Promise.resolve();

  readonly source = $derived(setup.source(this.slug));
  readonly provider: Provider | null = $derived(this.#named(this.source?.provider ?? null));
  readonly secrets = $derived(setup.secretsOf(this.slug));
  readonly targets = $derived(setup.targetsOf(this.slug));
  readonly url = $derived(setup.urlOf(this.slug));
  /** Whose sample is sent: the chosen provider's, else that of the one that is used most. */
  readonly sender = $derived(this.provider ?? setup.providers.find((provider) => provider.can_send) ?? null);

  /** Begins at a source that is there already, where there is one. */
  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    const first = setup.sources.find((source) => !source.auto_created) ?? setup.sources[0];
    if (first !== undefined) this.slug = first.slug;
  }

  /** Chooses a provider: its source is made, or is the one shown from now on. */
  pick(provider: string): Promise<void> {
    return this.#afterLast(() =>
      this.#do(moveFor(this.#now(), provider, slugFor(provider), setup.sources), provider),
    );
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

  /** Sends a sample through the capture port, as its provider would. Answers the event, and how it was signed. */
  async send(): Promise<{ event: string | null; how: string } | null> {
    const { sender, url } = this;
    if (sender === null || url === null || this.sending) return null;
    this.sending = true;
    this.notSent = null;
    try {
      const sent = await sendSample(sender.id, this.slug, url);
      const [line] = sent.items;
      if (line?.status !== 'completed' && line?.event_id == null) {
        this.notSent = `The test event was not caught: ${line?.error ?? 'no answer came'}.`;
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

  /** One move after the other: each begins where the last one led. */
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

  /** The source that this screen made, as long as nothing was put into it. */
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

/** The one of this page: coming back to the screen finds it as it was left. */
export const journey = new Journey();
