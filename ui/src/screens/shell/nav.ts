import CirclePause from '@lucide/svelte/icons/circle-pause';
import MailX from '@lucide/svelte/icons/mail-x';
import ShieldX from '@lucide/svelte/icons/shield-x';
import TriangleAlert from '@lucide/svelte/icons/triangle-alert';

import type { View } from '../../api/shapes';
import { allEvents, format, route } from '../../state/route.svelte';

/** The saved views, in order. */
export const views = [
  { view: 'needs_action', label: 'Needs action', icon: TriangleAlert },
  { view: 'invalid', label: 'Invalid signatures', icon: ShieldX },
  { view: 'dead_letter', label: 'Dead letters', icon: MailX },
  { view: 'waiting', label: 'Waiting', icon: CirclePause },
] as const satisfies readonly { view: View; label: string; icon: unknown }[];

/** Returns the link of a view, a source or a search in the left pane; without any, the link to all events. */
export function linkTo(of: { view?: View | 'trash'; source?: string; q?: string } = {}): string {
  return format({ ...allEvents, ...of });
}

/** Returns the link of a view or a source that keeps the search, so that it narrows what is found. */
export function linkWithin(of: { view?: View; source?: string }): string {
  return format({ ...allEvents, q: route.events.q, ...of });
}
