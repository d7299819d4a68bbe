const reachable = 'a[href], button:not([disabled]), input, [tabindex]:not([tabindex="-1"])';

/** Moves the focus to the next (1) or previous (-1) visible pane. */
export function nextPane(step: 1 | -1): void {
  const panes = [...document.querySelectorAll<HTMLElement>('[data-pane]')].filter((pane) =>
    pane.checkVisibility({ visibilityProperty: true }),
  );
  const here = panes.findIndex((pane) => pane.contains(document.activeElement));
  const next = panes[(here + step + panes.length) % panes.length];
  if (next) enter(next);
}

/** Moves the focus into a pane: to its `data-first` element, else to its first focusable one. */
export function enter(pane: HTMLElement): void {
  const first =
    pane.querySelector<HTMLElement>('[data-first]') ?? pane.querySelector<HTMLElement>(reachable) ?? pane;
  first.focus();
}

/** Moves the focus into the pane with this name; returns false if there is none. */
export function enterPane(name: string): boolean {
  const pane = document.querySelector<HTMLElement>(`[data-pane="${name}"]`);
  if (pane) enter(pane);
  return pane !== null;
}
