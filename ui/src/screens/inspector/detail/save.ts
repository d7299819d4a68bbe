import Download from '@lucide/svelte/icons/download';

import type { Event } from '../../../api/shapes';
import { transport } from '../../../api/transport';
import { visible } from '../../../format/words';
import { toasts } from '../../../state/toasts.svelte';
import { bodyFile } from './logic/curl';

/** Saves the exact bytes of a body as a file. */
export async function saveBody(event: Event): Promise<void> {
  try {
    const saved = await transport.save(
      `/api/events/${encodeURIComponent(event.id)}/body`,
      bodyFile(event.id),
    );
    toasts.say(`Body saved as ${visible(saved)}`, { icon: Download });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    toasts.fail(`Not saved: ${visible(why)}`, { retry: () => void saveBody(event) });
  }
}
