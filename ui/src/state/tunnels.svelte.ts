import { SvelteMap } from 'svelte/reactivity';

import { Problem } from '../api/client';
import { listGaps, listTunnels } from '../api/tunnels';
import type { Gap, Tunnel } from '../api/shapes';
import { urlOf } from '../format/tunnel';
import { readAgain, type History } from './history';
import { soon } from './soon';

/** How many gaps are asked for at a time: more than a week has on any usual line. */
const PAGE = 200;

/** The ways from the internet to this app, and how they are. */
class Tunnels {
  list = $state.raw<Tunnel[]>([]);
  /** They were read once. */
  loaded = $state(false);
  /** Why the last reading failed. */
  problem = $state.raw<Problem | null>(null);
  #histories = new SvelteMap<number, History>();

  /** Reads them again soon. */
  readonly changed = soon(() => void this.read(), 100);

  /** Where a source's providers reach it, by tunnel. */
  urlsOf(slug: string): { tunnel: Tunnel; url: string }[] {
    return this.list.flatMap((tunnel) => {
      const url = urlOf(tunnel, slug);
      return url === null ? [] : [{ tunnel, url }];
    });
  }

  /** Reads them. What was read of their pasts is read again too. */
  async read(): Promise<void> {
    try {
      this.list = await listTunnels();
      this.loaded = true;
      this.problem = null;
    } catch (error) {
      this.problem = Problem.of(error);
      return;
    }
    for (const id of [...this.#histories.keys()]) void this.readHistory(id);
  }

  /** One of them. */
  one(id: number): Tunnel | undefined {
    return this.list.find((tunnel) => tunnel.id === id);
  }

  /** Takes a tunnel that was added or has changed. */
  apply(tunnel: Tunnel): void {
    const known = this.list.some((one) => one.id === tunnel.id);
    this.list = known
      ? this.list.map((one) => (one.id === tunnel.id ? tunnel : one))
      : [...this.list, tunnel];
    this.#forgetOpen(tunnel);
    if (tunnel.gap) this.#note(tunnel.gap);
  }

  /** Forgets a tunnel that was removed. */
  drop(id: number): void {
    this.list = this.list.filter((one) => one.id !== id);
    this.#histories.delete(id);
  }

  /** When a tunnel was offline; undefined until it was read. */
  history(id: number): History | undefined {
    return this.#histories.get(id);
  }

  /** Reads when a tunnel was offline. */
  async readHistory(id: number): Promise<void> {
    try {
      const { items, next_cursor: next } = await listGaps(id, null, PAGE);
      const read = { items, next, problem: null };
      this.#histories.set(id, readAgain(this.#histories.get(id), read));
    } catch (error) {
      const known = this.#histories.get(id) ?? { items: [], next: null };
      this.#histories.set(id, { ...known, problem: Problem.of(error) });
    }
  }

  /** Reads on where the past of a tunnel ends. */
  async readOn(id: number): Promise<void> {
    const known = this.#histories.get(id);
    if (!known || known.next === null) return;
    try {
      const page = await listGaps(id, known.next, PAGE);
      const now = this.#histories.get(id) ?? known;
      this.#histories.set(id, {
        items: [...now.items, ...page.items.filter(({ id }) => !now.items.some((one) => one.id === id))],
        next: page.next_cursor,
        problem: null,
      });
    } catch (error) {
      this.#histories.set(id, { ...known, problem: Problem.of(error) });
    }
  }

  /** Takes a gap that has ended. */
  closed(gap: Gap): void {
    this.#note(gap);
  }

  /** A gap that came to nothing is not kept: what was open and is no longer the newest was one of these. */
  #forgetOpen({ id, gap }: Tunnel) {
    const known = this.#histories.get(id);
    const items = known?.items.filter((one) => one.until !== null || one.id === gap?.id);
    if (known && items && items.length < known.items.length) this.#histories.set(id, { ...known, items });
  }

  #note(gap: Gap) {
    const id = gap.tunnel_id;
    const known = this.#histories.get(id);
    if (!known) return;
    const others = known.items.filter((one) => one.id !== gap.id);
    const items = [gap, ...others].sort((a, b) => Date.parse(b.from) - Date.parse(a.from));
    this.#histories.set(id, { ...known, items });
  }
}

export const tunnels = new Tunnels();
