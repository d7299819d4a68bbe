import Cable from '@lucide/svelte/icons/cable';
import CircleCheck from '@lucide/svelte/icons/circle-check';
import CircleDashed from '@lucide/svelte/icons/circle-dashed';
import CirclePause from '@lucide/svelte/icons/circle-pause';
import Cloud from '@lucide/svelte/icons/cloud';
import Inbox from '@lucide/svelte/icons/inbox';
import Unplug from '@lucide/svelte/icons/unplug';

import type { Station } from '../state/stations';

/** Returns the icon for a station's state. */
export function stationIcon({ kind, tone }: Pick<Station, 'kind' | 'tone'>) {
  if (kind === 'providers') return Cloud;
  if (kind === 'relay') return tone === 'bad' ? Unplug : Cable;
  if (kind === 'app') return tone === 'bad' ? Unplug : Inbox;
  if (kind === 'no-target') return CircleDashed;
  if (tone === 'none') return CircleDashed;
  return tone === 'ok' ? CircleCheck : CirclePause;
}
