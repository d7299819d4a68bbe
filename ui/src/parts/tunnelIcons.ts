import Cable from '@lucide/svelte/icons/cable';
import CircleX from '@lucide/svelte/icons/circle-x';
import TriangleAlert from '@lucide/svelte/icons/triangle-alert';
import Unplug from '@lucide/svelte/icons/unplug';

import type { Tunnel } from '../api/shapes';

/** Returns the icon for a tunnel's state. */
export function tunnelIcon({ state, error }: Pick<Tunnel, 'state' | 'error'>) {
  if (state === 'limited' || (state === 'connected' && error)) return TriangleAlert;
  if (state === 'refused') return CircleX;
  return state === 'off' || state === 'offline' ? Unplug : Cable;
}
