import { untrack } from 'svelte';

/** What a shortcut does. If it returns false, the key press goes on to the next binding, then to the browser. */
export type Shortcut = (event: KeyboardEvent) => boolean | void;

interface Binding {
  shortcuts: Map<string, Shortcut>;
  when: () => boolean;
  first: boolean;
}

type Shortcuts = Record<string, Shortcut>;

interface Where {
  /** The shortcuts work only while this returns true; without it, always. */
  when?: (() => boolean) | undefined;
  /** Puts the shortcuts before all others, even those that are bound later. */
  first?: boolean | undefined;
}

/** Returns the name of a key press: `r`, `Shift+r`, `Mod+k`, `ArrowDown`, `?`. */
export function nameOf(event: KeyboardEvent): string {
  const key = event.key === ' ' ? 'Space' : event.key;
  const letter = key.length === 1 ? key.toLowerCase() : key;
  const modified = event.ctrlKey || event.metaKey ? 'Mod+' : event.altKey ? 'Alt+' : '';
  const isLetter = key.length > 1 || letter !== key.toUpperCase();
  return modified + (event.shiftKey && isLetter ? 'Shift+' : '') + letter;
}

const fields =
  'input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable=""], [contenteditable=true]';
const floats = '[role=dialog], [role=menu], [role=listbox][data-select-content], [role=alertdialog]';

const pressed = 'button, a[href], summary, [role=tab], [role=switch], input';

/** All shortcuts of the page. A key's latest binding wins. None works in a dialog; in fields only Mod and F keys do. */
class Keys {
  #bindings = $state.raw<Binding[]>([]);
  #first: { key: string; at: number } | null = null;

  /** Binds keys until the returned function is called; an effect can return it. `g e` means one key after the other. */
  bind(shortcuts: Shortcuts, { when = () => true, first = false }: Where = {}): () => void {
    const binding = { shortcuts: new Map(Object.entries(shortcuts)), when, first };
    // Untracked, so that an effect that binds keys does not run again because of its own binding.
    const all = [binding, ...untrack(() => this.#bindings)];
    this.#bindings = [...all.filter((one) => one.first), ...all.filter((one) => !one.first)];
    return () => {
      this.#bindings = untrack(() => this.#bindings).filter((one) => one !== binding);
    };
  }

  /** Runs the shortcut that is bound to a key press, if any. */
  press(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return;
    const key = nameOf(event);
    if (['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return;
    const target = event.target instanceof Element ? event.target : null;
    const single = !key.startsWith('Mod+') && !/^F\d+$/.test(key);
    if (target?.closest(floats) || document.querySelector('[role=dialog][data-state=open]')) return;
    if (single && target?.closest(fields)) return;
    if ((key === 'Space' || key === 'Enter') && target?.closest(pressed)) return; // they handle the key themselves
    const two =
      this.#first && performance.now() - this.#first.at < 1_000 ? `${this.#first.key} ${key}` : null;
    this.#first = { key, at: performance.now() };
    if ((two && this.#run(two, event)) || this.#run(key, event)) this.#first = null;
  }

  #run(key: string, event: KeyboardEvent): boolean {
    for (const { shortcuts, when } of this.#bindings) {
      const shortcut = shortcuts.get(key);
      if (!shortcut || !when() || shortcut(event) === false) continue;
      event.preventDefault();
      return true;
    }
    return false;
  }
}

export const keys = new Keys();
