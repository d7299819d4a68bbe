import { describe, expect, it } from 'vitest';
import { byteRows, type ByteLine } from './byte-lines';
import { sequenceDiff } from './sequence-diff';

const bytes = (text: string) => new TextEncoder().encode(text);
const rows = (first: string, other: string) => byteRows(bytes(first), bytes(other));
/** Draws a line with its offset, changes in brackets. */
const drawn = (line: ByteLine | null) =>
  line &&
  `${line.at} ${line.pieces.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('')}`.replaceAll(
    '\n',
    '⏎',
  );
const picture = (first: string, other: string) =>
  rows(first, other).map((row) => [drawn(row.first), drawn(row.other)]);

describe('two bodies side by side', () => {
  it('marks the white space that was added, with the offsets of both', () => {
    expect(picture('{"id":"a","n":{"b":1}}', '{\n  "id": "a",\n  "n": {\n    "b": 1\n  }\n}')).toEqual([
      ['0 {', '0 {[⏎]'],
      ['1 "id":"a",', '2 [  ]"id":[ ]"a",[⏎]'],
      ['10 "n":{', '15 [  ]"n":[ ]{[⏎]'],
      ['15 "b":1', '24 [    ]"b":[ ]1[⏎]'],
      ['20 }', '35 [  ]}[⏎]'],
      ['21 }', '39 }'],
    ]);
  });

  it('breaks what has no lines where its structure is', () => {
    expect(picture('{"a":1,"b":[2]}', '{"a": 1, "b": [2]}')).toEqual([
      ['0 {', '0 {'],
      ['1 "a":1,', '1 "a":[ ]1,'],
      ['7 "b":[', '8 [ ]"b":[ ]['],
      ['12 2', '15 2'],
      ['13 ]', '16 ]'],
      ['14 }', '17 }'],
    ]);
  });

  it('marks only what differs in a value, and counts bytes, not characters', () => {
    expect(picture('{"n":"café 1","k":2}', '{"n":"caf\\u00e9 1","k":2}')).toEqual([
      ['0 {', '0 {'],
      ['1 "n":"caf[é] 1",', '1 "n":"caf[\\u00e9] 1",'],
      ['15 "k":2', '19 "k":2'],
      ['20 }', '24 }'],
    ]);
  });

  it('shows a line feed at the end, a changed line end and a byte order mark', () => {
    expect(picture('{"a":1}', '{"a":1}\n').at(-1)).toEqual(['6 }', '6 }[⏎]']);
    expect(picture('a\nb', 'a\r\nb')).toEqual([
      ['0 a⏎', '0 a[\r]⏎'],
      ['2 b', '3 b'],
    ]);
    expect(picture('{}', '\ufeff{}')[0]).toEqual(['0 {', '0 [\ufeff]{']);
  });

  it('shows where a body was cut off', () => {
    expect(picture('{"a":1,"b":2}', '{"a":1,"b"')).toEqual([
      ['0 {', '0 {'],
      ['1 "a":1,', '1 "a":1,'],
      ['7 "b"[:][2]', '7 "b"'],
      ['12 [}]', null],
    ]);
  });

  it('compares bytes that are no text', () => {
    const [row] = byteRows(new Uint8Array([0xff, 0x41]), new Uint8Array([0xff, 0x42]));
    expect([drawn(row!.first), drawn(row!.other)]).toEqual(['0 ÿ[A]', '0 ÿ[B]']);
  });

  it('puts every byte of both into some line', () => {
    const [first, other] = ['{"b":[1,{"c":null}],"a":"x"}', '{ "a":"x",\n"b":[1,{"c":null},true]}\n'];
    const whole = (side: 'first' | 'other') =>
      rows(first, other)
        .flatMap((row) => row[side]?.pieces ?? [])
        .map(({ text }) => text)
        .join('');
    expect([whole('first'), whole('other')]).toEqual([first, other]);
  });
});

it('finds the fewest steps between two sequences', () => {
  const steps = sequenceDiff([...'abcabba'], [...'cbabac']);
  expect(steps.filter(([x, y]) => x === null || y === null)).toHaveLength(5);
  const far = Array.from({ length: 5_000 }, (_, at) => `${at}`);
  expect(
    sequenceDiff(
      far,
      far.map((one) => `x${one}`),
    ),
  ).toHaveLength(10_000);
});
