import CircleX from '@lucide/svelte/icons/circle-x';
import Moon from '@lucide/svelte/icons/moon';
import Power from '@lucide/svelte/icons/power';
import PowerOff from '@lucide/svelte/icons/power-off';
import Server from '@lucide/svelte/icons/server';
import Unplug from '@lucide/svelte/icons/unplug';
import type { Component } from 'svelte';

import type { Why } from '../api/shapes';

type AnIcon = Component<Record<string, unknown>>;

const icons: Record<Why, AnIcon> = {
  asleep: Moon,
  network: Unplug,
  unknown_name: Unplug,
  no_answer: Unplug,
  relay: Server,
  connection_refused: Server,
  untrusted: Server,
  denied: CircleX,
  hindered: CircleX,
  app_closed: Power,
  not_running: PowerOff,
  off: PowerOff,
};

/** Returns the icon for the reason why a tunnel was offline; null stands for one that is not known. */
export function whyIcon(why: Why | null): AnIcon {
  return why === null ? Unplug : icons[why];
}
