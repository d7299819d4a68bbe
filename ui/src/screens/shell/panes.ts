const reachable = 'a[href], button:not([disabled]), input, [tabindex]:not([tabindex="-1"])';

/** Moves the focus to the pane after (1) or before (-1) the one that has it. */
export function nextPane(step: 1 | -1): void {
  const panes = [...document.querySelectorAll<HTMLElement>('[data-pane]')].filter((pane) =>
    pane.checkVisibility({ visibilityProperty: true }),
  );
  const here = panes.findIndex((pane) => pane.contains(document.activeElement));
  const next = panes[(here + step + panes.length) % panes.length];
  if (next) enter(next);
}

/** Moves the focus into a pane: to what it names as its first, else the first that can have it. */
export function enter(pane: HTMLElement): void {
  const first =
    pane.querySelector<HTMLElement>('[data-first]') ?? pane.querySelector<HTMLElement>(reachable) ?? pane;
  first.focus();
}

/** Moves the focus into the pane of that name; false where there is none. */
export function enterPane(name: string): boolean {
  const pane = document.querySelector<HTMLElement>(`[data-pane="${name}"]`);
  if (pane) enter(pane);
  return pane !== null;
}
