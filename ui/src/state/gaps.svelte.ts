import { gapsSince } from '../api/tunnels';
import type { Gap } from '../api/shapes';
import { gapSentence, isNews } from '../format/gap';
import { announcer } from './announcer.svelte';

/** No event stays longer in the inbox by itself. */
const KEPT = 31 * 24 * 60 * 60_000;

/** The gaps that the list of events shows: those after which something was caught up or lost. */
class Gaps {
  /** Newest first. */
  lines = $state.raw<readonly Gap[]>([]);

  /** Reads them. */
  async read(): Promise<void> {
    this.lines = await gapsSince(new Date(Date.now() - KEPT).toISOString());
  }

  /** Takes one that has ended. */
  closed(line: Gap): void {
    if (!isNews(line)) return;
    this.lines = [line, ...this.lines.filter((one) => one.id !== line.id)];
    announcer.say(`${gapSentence(line, Date.now())}.`);
  }
}

export const gaps = new Gaps();
