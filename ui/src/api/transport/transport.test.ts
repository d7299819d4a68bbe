import { expect, test } from 'vitest';

import { Frames } from './frames';
import { pack, unpack } from './packed';

const bytes = (text: string) => new TextEncoder().encode(text);

/** Returns the frames of a stream that arrives in pieces of `size` bytes. */
function framesOf(text: string, size: number): [string, unknown][] {
  const seen: [string, unknown][] = [];
  const frames = new Frames((name, data) => seen.push([name, data]));
  const all = bytes(text);
  for (let at = 0; at < all.length; at += size) frames.push(all.subarray(at, at + size));
  return seen;
}

const stream =
  ':\n\nevent: event\ndata: {"title":"Grüße 👋"}\n\n: still here\n\nevent:config\r\ndata:{}\r\n\r\ndata: [1,\ndata: 2]\n\nevent: cut';

test.each([1, 2, 3, 7, 1_000])('a stream in pieces of %i bytes', (size) => {
  expect(framesOf(stream, size)).toEqual([
    ['event', { title: 'Grüße 👋' }],
    ['config', {}],
    ['message', [1, 2]],
  ]);
});

test('a head and a body come back as they were', () => {
  const head = { method: 'POST', path: '/api/events?q=ä', headers: [['a', 'b']] };
  const body = new Uint8Array([0, 255, 13, 10, 128]);
  const packed = pack(head, body);
  expect([...packed.subarray(0, 3)]).toEqual([0, 0, 0]); // the length is big endian
  expect(unpack(packed.buffer)).toEqual({ head, body });
});

test('no body is an empty one', () => expect(unpack(pack({}, new Uint8Array()).buffer).body).toHaveLength(0));

test('what is cut off is refused', () => {
  expect(() => unpack(new ArrayBuffer(3))).toThrow('shorter than its own head');
  expect(() => unpack(pack({ a: 1 }, new Uint8Array()).buffer.slice(0, 6))).toThrow('cut off');
});
