/** Bytes in a row of the hex view. */
export const ROW_BYTES = 16;

/** A row of the hex view. */
export interface HexRow {
  /** Where it begins, in hex. */
  offset: string;
  /** Two groups of eight bytes. */
  groups: [string, string];
  /** The same bytes as ASCII, a middle dot for the others. */
  ascii: string;
}

/** Row `number` of `bytes`; all rows are as wide as the longest offset. */
export function hexRow(bytes: Uint8Array, number: number): HexRow {
  const start = number * ROW_BYTES;
  const row = bytes.subarray(start, start + ROW_BYTES);
  const pairs = Array.from(row, (byte) => byte.toString(16).padStart(2, '0'));
  return {
    offset: start.toString(16).padStart(8, '0'),
    groups: [pairs.slice(0, 8).join(' '), pairs.slice(8).join(' ')],
    ascii: Array.from(row, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·')).join(
      '',
    ),
  };
}

/** How many rows `bytes` has. */
export function hexRows(bytes: Uint8Array): number {
  return Math.ceil(bytes.length / ROW_BYTES);
}
