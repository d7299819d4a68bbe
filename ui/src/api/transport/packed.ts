/** A JSON head and a body that travel as one block: the head's length in 4 bytes, big endian, the head, the body. */
export interface Unpacked<Head> {
  head: Head;
  body: Uint8Array<ArrayBuffer>;
}

/** Packs a head and a body into one block. */
export function pack(head: unknown, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const written = new TextEncoder().encode(JSON.stringify(head));
  const block = new Uint8Array(4 + written.length + body.length);
  new DataView(block.buffer).setUint32(0, written.length);
  block.set(written, 4);
  block.set(body, 4 + written.length);
  return block;
}

/** Splits a block into its head and body. */
export function unpack<Head>(block: ArrayBuffer): Unpacked<Head> {
  if (block.byteLength < 4) throw new Error('the answer is shorter than its own head');
  const length = new DataView(block).getUint32(0);
  if (4 + length > block.byteLength) throw new Error('the head of the answer is cut off');
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(block, 4, length))) as Head;
  return { head, body: new Uint8Array(block, 4 + length) };
}
