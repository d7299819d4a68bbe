import { SvelteSet } from 'svelte/reactivity';

import { Problem } from '../../api/client';
import { changeTarget, inWords, removeTarget } from '../../setup/calls';
import { setup } from '../../setup/setup.svelte';
import { shortTarget } from '../../setup/target-url';
import type { TargetView } from '../../setup/types';
import { toasts } from '../../state/toasts.svelte';

/** How often, in milliseconds, to check whether the toast still offers undo. */
const LOOK = 500;

/**
 * Targets that are being removed. Removing a target makes its waiting deliveries fail for good, so it is only paused
 * and hidden until the time for undo is over. Leaving the page ends that time.
 */
class Removals {
  #going = new SvelteSet<number>();
  #ends = new Map<number, ReturnType<typeof setInterval>>();

  constructor() {
    if (typeof window === 'undefined') return;
    window.addEventListener('pagehide', () => {
      for (const id of this.#going) void removeTarget(id, { leaving: true });
    });
  }

  /** Returns the targets that are not being removed. */
  staying(targets: readonly TargetView[]): TargetView[] {
    return targets.filter((target) => !this.#going.has(target.id));
  }

  /** Removes a target, with undo. */
  async remove(target: TargetView): Promise<void> {
    this.#going.add(target.id);
    try {
      if (!target.paused) await changeTarget(target.id, { paused: true });
    } catch (error) {
      this.#going.delete(target.id);
      toasts.fail(`Not removed: ${inWords(Problem.of(error))}`, { retry: () => void this.remove(target) });
      return;
    }
    const undo = () => void this.#undo(target);
    toasts.say(`Target ${shortTarget(target.url)} removed`, { undo });
    const look = () => toasts.list.some((toast) => toast.undo === undo) || void this.#finish(target);
    this.#ends.set(target.id, setInterval(look, LOOK));
  }

  async #undo(target: TargetView): Promise<void> {
    this.#end(target);
    this.#going.delete(target.id);
    if (!target.paused) await this.#settle(() => changeTarget(target.id, { paused: false }), 'Not resumed');
  }

  async #finish(target: TargetView): Promise<void> {
    this.#end(target);
    await this.#settle(() => removeTarget(target.id), 'Not removed');
    this.#going.delete(target.id);
  }

  #end(target: TargetView) {
    clearInterval(this.#ends.get(target.id));
    this.#ends.delete(target.id);
  }

  async #settle(call: () => Promise<unknown>, failed: string): Promise<void> {
    try {
      await call();
    } catch (error) {
      toasts.fail(`${failed}: ${inWords(Problem.of(error))}`, {
        retry: () => void this.#settle(call, failed),
      });
    }
    await setup.refresh();
  }
}

export const removals = new Removals();
