import Moon from '@lucide/svelte/icons/moon';
import Power from '@lucide/svelte/icons/power';
import PowerOff from '@lucide/svelte/icons/power-off';
import Server from '@lucide/svelte/icons/server';
import Unplug from '@lucide/svelte/icons/unplug';
import type { Component } from 'svelte';

import type { Why } from '../api/shapes';

/** The icon for each reason why a tunnel was offline. */
export const whyIcons: Record<Why, Component<Record<string, unknown>>> = {
  asleep: Moon,
  network: Unplug,
  relay: Server,
  app_closed: Power,
  off: PowerOff,
};
