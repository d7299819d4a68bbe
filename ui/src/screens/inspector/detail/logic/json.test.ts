import { describe, expect, it } from 'vitest';
import { compareBodies } from './compare-bodies';
import { tokens } from './json-tokens';
import { jsonValues } from './json-values';
import { isJson, prettyJson } from './pretty-json';

const bytes = (text: string) => new TextEncoder().encode(text);
const kinds = (text: string) =>
  [...tokens(text)].filter(({ kind }) => kind !== 'space').map(({ kind }) => kind);

describe('tokens', () => {
  it('join to the text again, whatever it is', () => {
    for (const text of ['{"a" : [1,-2.5e+3,"x\\"y",null]}', '{"broken": "off', '<html>&', '"\\', '--1', '']) {
      expect([...tokens(text)].map((token) => token.text).join('')).toBe(text);
    }
  });

  it('tell keys from strings', () => {
    expect(kinds('{"a":"b"}')).toEqual(['mark', 'key', 'mark', 'string', 'mark']);
    expect(kinds('{"a"\n :1}')).toEqual(['mark', 'key', 'mark', 'number', 'mark']);
    expect(kinds('<')).toEqual(['other']);
  });
});

describe('pretty JSON', () => {
  it('gives each value its line', () => {
    expect(prettyJson('{"a":[1,{}],"b":{"c":[]}}')).toBe(
      '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": {\n    "c": []\n  }\n}',
    );
  });

  it('changes no number, escape or repeated key', () => {
    expect(prettyJson('{"n":12345678901234567890.10,"n":"\\u00e9"}')).toBe(
      '{\n  "n": 12345678901234567890.10,\n  "n": "\\u00e9"\n}',
    );
  });

  it('goes as far as broken-off text does', () => {
    expect(prettyJson('{"a":"b')).toBe('{\n  "a": "b');
  });

  it('gives each of several values its line', () => {
    expect(prettyJson('{"a":1}\n{"a":2}')).toBe('{\n  "a": 1\n}\n{\n  "a": 2\n}');
  });

  it('survives deep nesting within bounds', () => {
    const deep = '['.repeat(200_000);
    expect(prettyJson(deep).length).toBeLessThan(deep.length * 100);
    expect(isJson(deep)).toBe(false);
  });
});

describe('values by pointer', () => {
  it('names every leaf, and escapes what a pointer needs', () => {
    const values = jsonValues('{"a":[1,{"b/c":"x"}],"d~":{},"e":[]}');
    expect(Object.fromEntries(values ?? [])).toEqual({
      '/a/0': '1',
      '/a/1/b~1c': '"x"',
      '/d~0': '{}',
      '/e': '[]',
    });
  });

  it('knows no values of other text', () => {
    expect(jsonValues('a=b')).toBeNull();
  });
});

describe('comparing bodies', () => {
  const compare = (one: string, other: string) => compareBodies(bytes(one), bytes(other));

  it('names the values that differ, are gone or are new', () => {
    expect(compare('{"a":2,"b":1,"c":true}', '{"a":1,"c":true,"d":null}')).toEqual({
      kind: 'values',
      values: [
        { pointer: '/a', first: '2', other: '1' },
        { pointer: '/b', first: '1', other: null },
        { pointer: '/d', first: null, other: 'null' },
      ],
    });
  });

  it('sees through another way of writing', () => {
    expect(compare('{"a":1,"b":"é"}', '{ "b": "\\u00e9", "a": 1.0 }')).toEqual({ kind: 'written' });
  });

  it('does not take long numbers for the same', () => {
    expect(compare('{"id":12345678901234567890}', '{"id":12345678901234567891}').kind).toBe('values');
  });

  it('finds the first byte that differs in anything else', () => {
    expect(compare('a=1', 'a=2')).toEqual({ kind: 'bytes', at: 2 });
    expect(compare('a=1', 'a=1&b')).toEqual({ kind: 'bytes', at: 3 });
    expect(compare('a', 'a')).toEqual({ kind: 'identical' });
  });
});
