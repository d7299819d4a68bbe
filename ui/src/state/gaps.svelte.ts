import { gapsSince } from '../api/tunnels';
import type { Gap } from '../api/shapes';
import { gapSentence, isNews } from '../format/gap';
import { announcer } from './announcer.svelte';

/** By then, retention usually has removed every event that is not pinned and no longer waits. */
const KEPT = 31 * 24 * 60 * 60_000;

/** The gaps shown in the list of events: events were caught up, lost or perhaps lost unnoticed. */
class Gaps {
  /** Newest first. */
  lines = $state.raw<readonly Gap[]>([]);

  /** Reads the gaps. */
  async read(): Promise<void> {
    this.lines = await gapsSince(new Date(Date.now() - KEPT).toISOString());
  }

  /** Takes a gap that has ended. */
  closed(line: Gap): void {
    if (!isNews(line)) return;
    this.lines = [line, ...this.lines.filter((one) => one.id !== line.id)];
    announcer.say(`${gapSentence(line, Date.now())}.`);
  }
}

export const gaps = new Gaps();
