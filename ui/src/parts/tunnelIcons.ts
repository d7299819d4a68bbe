import Cable from '@lucide/svelte/icons/cable';
import CircleX from '@lucide/svelte/icons/circle-x';
import TriangleAlert from '@lucide/svelte/icons/triangle-alert';
import Unplug from '@lucide/svelte/icons/unplug';

import type { Tunnel } from '../api/shapes';
import { conditionOf, type Condition } from '../format/tunnel';

const icons = {
  connected: Cable,
  connecting: Cable,
  problem: TriangleAlert,
  limited: TriangleAlert,
  refused: CircleX,
  stuck: CircleX,
  offline: Unplug,
  off: Unplug,
} satisfies Record<Condition, unknown>;

/** Returns the icon for a tunnel's state. */
export function tunnelIcon(tunnel: Pick<Tunnel, 'state' | 'error' | 'hindrance'>) {
  return icons[conditionOf(tunnel)];
}
