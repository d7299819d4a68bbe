import { SvelteMap } from 'svelte/reactivity';

import { Problem } from '../api/client';
import { listGaps, listTunnels } from '../api/tunnels';
import type { Gap, Tunnel } from '../api/shapes';
import { urlOf } from '../format/tunnel';
import { readAgain, type History } from './history';
import { soon } from './soon';

/** How many gaps a request asks for: more than a usual connection has in a week. */
const PAGE = 200;

/** The tunnels from the internet to this app, and their state. */
class Tunnels {
  list = $state.raw<Tunnel[]>([]);
  /** The tunnels were read once. */
  loaded = $state(false);
  /** Why the last read failed. */
  problem = $state.raw<Problem | null>(null);
  #histories = new SvelteMap<number, History>();

  /** Reads the tunnels again soon. */
  readonly changed = soon(() => void this.read(), 100);

  /** Returns the URLs at which providers reach a source, by tunnel. */
  urlsOf(slug: string): { tunnel: Tunnel; url: string }[] {
    return this.list.flatMap((tunnel) => {
      const url = urlOf(tunnel, slug);
      return url === null ? [] : [{ tunnel, url }];
    });
  }

  /** Reads the tunnels, and again each history that was read before. */
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

  /** Returns one tunnel. */
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

  /** Returns a tunnel's gaps; undefined until they were read. */
  history(id: number): History | undefined {
    return this.#histories.get(id);
  }

  /** Reads the newest gaps of a tunnel. */
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

  /** Reads the next older page of a tunnel's gaps. */
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

  /** Forgets open gaps other than the tunnel's current one: nothing came of them, so hookmitt did not keep them. */
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
