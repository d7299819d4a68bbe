interface Room {
  gap: number;
  /** The width of the button that opens the rest. */
  more: number;
  /** The index of the item that must stay visible. */
  keep: number;
}

/** Returns the first items that fit side by side into `width`; if `keep` is not among them, it comes last. */
export function fitting<T>(
  things: readonly T[],
  widths: readonly number[],
  width: number,
  room: Room,
): readonly T[] {
  const known = widths.length >= things.length && width > 0;
  if (!known || taken(widths.slice(0, things.length), room.gap) <= width) return things;
  let fits = things.length - 1;
  while (fits > 1 && taken(chosen(widths, fits, room.keep), room.gap) + room.gap + room.more > width)
    fits -= 1;
  return chosen(things, fits, room.keep);
}

function chosen<T>(things: readonly T[], fits: number, keep: number): T[] {
  const kept = things[keep];
  if (keep < fits || kept === undefined) return things.slice(0, fits);
  return [...things.slice(0, fits - 1), kept];
}

function taken(widths: readonly number[], gap: number): number {
  return widths.reduce((sum, width) => sum + width, 0) + gap * Math.max(0, widths.length - 1);
}
