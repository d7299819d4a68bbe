import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { formFields, readBody } from './body-kind';
import { layoutOf, type Form } from './body-layout';
import { curlCommand } from './curl';
import { hexRow, hexRows } from './hex';
import { visibleText } from './visible-text';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('the kind of a body', () => {
  const kind = (body: Uint8Array, type: string | null = null) => readBody(body, type, true).kind;

  it('comes from the type, and from the bytes where that says nothing', () => {
    expect(kind(bytes('{"a":1}'), 'application/json; charset=utf-8')).toBe('json');
    expect(kind(bytes(' {"a":1}'))).toBe('json');
    expect(kind(bytes('a=b'), 'application/x-www-form-urlencoded')).toBe('form');
    expect(kind(bytes('<svg onload=alert(1)>'), 'image/svg+xml')).toBe('text');
    expect(kind(new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1]), 'image/png')).toBe('binary');
    expect(kind(new Uint8Array(), 'application/json')).toBe('empty');
  });

  it('says when bytes are no UTF-8', () => {
    expect(readBody(new Uint8Array([0x61, 0xff, 0x62]), null, true)).toEqual({
      kind: 'text',
      text: 'a\ufffdb',
      broken: true,
    });
  });

  it('takes a character cut off by the loaded part for none', () => {
    const cut = bytes('aé').subarray(0, 2);
    expect(readBody(cut, null, false)).toEqual({ kind: 'text', text: 'a', broken: false });
    expect(readBody(cut, null, true).broken).toBe(true);
  });
});

describe('the layout of a body', () => {
  const layout = (text: string, type: string, form: Form, whole = true) =>
    layoutOf(readBody(bytes(text), type, whole), form, whole);

  it('is pretty where it can be, and says where not', () => {
    expect(layout('{"a":1}', 'application/json', 'pretty').text).toBe('{\n  "a": 1\n}');
    expect(layout('{"a":', 'application/json', 'pretty')).toMatchObject({
      text: '{"a":',
      note: 'Not valid JSON, so it is shown as received.',
    });
    expect(layout('{"a":', 'application/json', 'pretty', false).note).toBeNull();
    expect(layout('a=1', 'application/x-www-form-urlencoded', 'pretty').as).toBe('fields');
    expect(layout('<svg/>', 'image/svg+xml', 'pretty')).toMatchObject({ as: 'text', language: 'text' });
  });

  it('is the very text where it is raw', () => {
    expect(layout('{"a":1}', 'application/json', 'raw')).toMatchObject({ text: '{"a":1}', language: 'text' });
  });
});

describe('text', () => {
  it('hides nothing', () => {
    expect(visibleText('a\u202eb\u001b[2J\n\tc\r\n')).toBe('a⟨U+202E⟩b⟨U+001B⟩[2J\n\tc⟨U+000D⟩\n');
    expect(visibleText('naïve 日本語 🎣')).toBe('naïve 日本語 🎣');
  });

  it('decodes a form in order, with repeats', () => {
    expect(formFields('a=1+2&b=%26&a=')).toEqual([
      ['a', '1 2'],
      ['b', '&'],
      ['a', ''],
    ]);
  });
});

describe('hex', () => {
  it('has sixteen bytes a row', () => {
    const body = Uint8Array.from({ length: 18 }, (_, at) => at + 0x60);
    expect(hexRows(body)).toBe(2);
    expect(hexRow(body, 1)).toEqual({ offset: '00000010', groups: ['70 71', ''], ascii: 'pq' });
    expect(hexRow(body, 0).groups).toEqual(['60 61 62 63 64 65 66 67', '68 69 6a 6b 6c 6d 6e 6f']);
  });
});

describe('copy as curl', () => {
  const event = { id: 'e1', method: 'POST', url: 'http://127.0.0.1:4400/s/a//b?x=$(id)' };

  /** Returns the arguments and the input that a shell gives to curl. */
  function words(command: string): string[] {
    const shown = command.replace(
      /^(.*\| )?curl /s,
      (_, pipe: string | undefined) =>
        `${pipe ?? ''}node -e 'let i="";process.stdin.on("data",d=>i+=d.toString("latin1")).on("end",()=>console.log(JSON.stringify([...process.argv.slice(1),i])))' -- `,
    );
    const out = execFileSync('bash', ['-c', shown], { input: '', encoding: 'utf8' });
    return JSON.parse(out) as string[];
  }

  it('says what was sent, without what curl writes itself', () => {
    const headers: [string, string][] = [
      ['Host', 'h'],
      ['content-type', 'application/json'],
      ['X-Empty', ''],
      ['User-Agent', 'u'],
      ['Content-Length', '2'],
    ];
    expect(curlCommand({ ...event, headers }, bytes('{}'))).toBe(
      [
        `curl --path-as-is --globoff -X 'POST' '${event.url}'`,
        "-H 'content-type: application/json'",
        "-H 'X-Empty;'",
        "-H 'User-Agent: u'",
        "-H 'Accept:'",
        "--data-raw '{}'",
      ].join(' \\\n  '),
    );
  });

  it('gives the shell nothing to act on', () => {
    const hostile = `'; touch /tmp/pwned; $(id) \`id\` \\ "\n!! \u0003\u001b]0;x\u0007 \u202e é`;
    const got = words(
      curlCommand({ ...event, headers: [['X-A', hostile.replace('\n', '')]] }, bytes(hostile)),
    );
    expect(got).toContain(`X-A: ${hostile.replace('\n', '')}`);
    expect(got).toContain(hostile);
    const command = curlCommand({ ...event, headers: [] }, bytes(hostile));
    expect(command).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  it('keeps bytes that are no text', () => {
    const headers = [['X-B', { base64: '//4=' }]] as [string, { base64: string }][];
    expect(curlCommand({ ...event, headers }, new Uint8Array())).toContain("-H $'X-B: \\xff\\xfe'");
    const got = words(curlCommand({ ...event, headers: [] }, new Uint8Array([0, 0xff, 0x27])));
    expect(got.at(-1)).toBe("\u0000\u00ff'");
    expect(got).toContain('@-');
  });

  it('reads a large body from a file', () => {
    expect(curlCommand({ ...event, headers: [] }, null)).toContain('--data-binary @hookmitt-e1.bin');
  });
});
