import type { Component } from 'svelte';

/** A command of a menu. */
export interface MenuItem {
  label: string;
  icon?: Component<Record<string, unknown>> | undefined;
  key?: string | undefined;
  /** The reason why the command is not available now. */
  disabled?: string | false | undefined;
  danger?: boolean | undefined;
  /** Whether a choice shows a tick; absent for a plain command. */
  checked?: boolean | undefined;
  /** Whether a switch is on; absent for a plain command. */
  on?: boolean | undefined;
  onselect: () => void;
}
