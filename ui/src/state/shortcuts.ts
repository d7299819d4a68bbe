/** A line of the list of shortcuts: its keys, alternatives or one after the other, and what they do. */
export interface ShortcutLine {
  keys: string[];
  does: string;
}

/** All shortcuts, grouped, for the sheet and for settings. The screens bind the keys themselves. */
export const SHORTCUTS: { title: string; lines: ShortcutLine[] }[] = [
  {
    title: 'List',
    lines: [
      { keys: ['/'], does: 'Search' },
      { keys: ['j', 'k'], does: 'Next, previous' },
      { keys: ['Enter'], does: 'Open' },
      { keys: ['Escape'], does: 'Back, clear' },
      { keys: ['.'], does: 'Newest' },
      { keys: ['Space'], does: 'Live or paused' },
      { keys: ['x'], does: 'Select' },
      { keys: ['Shift+x'], does: 'Select up to here' },
      { keys: ['Delete'], does: 'Delete' },
      { keys: ['ArrowRight', 'ArrowLeft'], does: 'Show repeats, fold them' },
    ],
  },
  {
    title: 'Event',
    lines: [
      { keys: ['1', '2', '3', '4', '5'], does: 'Tabs' },
      { keys: ['r'], does: 'Replay' },
      { keys: ['Shift+r'], does: 'Replay re-signed' },
      { keys: ['f'], does: 'Forward what was skipped' },
      { keys: ['c'], does: 'Copy as curl' },
      { keys: ['p'], does: 'Pin' },
      { keys: ['n'], does: 'Note' },
      { keys: ['t'], does: 'Tag' },
      { keys: ['Mod+f'], does: 'Find in the body' },
      { keys: ['F3', 'Shift+F3'], does: 'Next match of the search, previous' },
    ],
  },
  {
    title: 'Everywhere',
    lines: [
      { keys: ['Mod+z'], does: 'Undo' },
      { keys: ['[', ']'], does: 'Left pane, list' },
      { keys: ['F6'], does: 'Next pane' },
      { keys: ['g', 'e'], does: 'Events' },
      { keys: ['g', 't'], does: 'Tunnels' },
      { keys: ['g', 's'], does: 'Sync' },
      { keys: ['Mod+s'], does: 'Save settings' },
      { keys: ['?'], does: 'Shortcuts' },
    ],
  },
];
