import { prefs } from './prefs.svelte';

/** How the panes are arranged: all three; the left one as a rail; one at a time. */
type Form = 'wide' | 'middle' | 'narrow';

const LEFT = { min: 200, max: 320, normal: 224 };
const RAIL = 48;
const LIST_MIN = 320;
const DETAIL_MIN = 420;

/** The widths of the window and of its panes. */
class Layout {
  width = $state(1440);
  /** Whether the user opened or closed the left pane; null leaves that to the window's width. */
  #leftOpen = $state<boolean | null>(null);
  listHidden = $state(false);

  get form(): Form {
    if (this.width >= 1200) return 'wide';
    return this.width >= 900 ? 'middle' : 'narrow';
  }

  /** Whether the left pane is fully shown; if there is no room for it, it floats. */
  get leftOpen(): boolean {
    return this.#leftOpen ?? this.form === 'wide';
  }
  set leftOpen(open: boolean) {
    this.#leftOpen = open;
  }

  /** Whether the left pane lies above the other panes. */
  get leftFloats(): boolean {
    return this.leftOpen && this.form !== 'wide';
  }

  readonly leftLimits = LEFT;

  get left(): number {
    return clamp(prefs.size('left', LEFT.normal), LEFT.min, LEFT.max);
  }

  /** The width that the left pane takes from the other panes. */
  get leftTakes(): number {
    return this.leftOpen && !this.leftFloats ? this.left + 1 : RAIL + 1;
  }

  get listLimits(): { min: number; max: number; normal: number } {
    const room = this.width - this.leftTakes;
    const max = Math.max(LIST_MIN, Math.min(Math.floor(this.width * 0.6), room - DETAIL_MIN - 1));
    const normal =
      this.form === 'wide' ? Math.round(room * 0.4835) : LIST_MIN + Math.round((this.width - 900) / 2);
    return { min: LIST_MIN, max, normal: clamp(normal, LIST_MIN, max) };
  }

  get list(): number {
    const { min, max, normal } = this.listLimits;
    return clamp(prefs.size(`list.${this.form}`, normal), min, max);
  }
  set list(size: number) {
    prefs.resize(`list.${this.form}`, size);
  }
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}

export const layout = new Layout();
