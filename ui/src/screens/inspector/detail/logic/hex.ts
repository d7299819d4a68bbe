/** The number of bytes in a row of the hex view. */
export const ROW_BYTES = 16;

/** A row of the hex view. */
export interface HexRow {
  /** The offset of the row's first byte, in hex. */
  offset: string;
  /** Two groups of eight bytes. */
  groups: [string, string];
  /** The same bytes as ASCII, with a middle dot for bytes that are not printable. */
  ascii: string;
}

/** Returns row `number` of `bytes`; its offset has at least 8 digits, so that rows align. */
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

/** Returns how many rows `bytes` fills. */
export function hexRows(bytes: Uint8Array): number {
  return Math.ceil(bytes.length / ROW_BYTES);
}
