import { expect, test } from 'vitest';
import type { SourceView } from '../../setup/types';
import { changeOf, fieldsOf, paramsText, realEdits, savingSays } from './source-form';
import { problemsOf } from './source-problems';

const source: SourceView = {
  slug: 'intake',
  provider: null,
  on_invalid: 'record',
  on_duplicate: 'skip',
  public_url: null,
  public_url_set: false,
  allowed_hosts: [],
  tolerance_s: null,
  answer: {
    status: null,
    headers: [['Retry-After', '120']],
    body: null,
    delay_ms: 0,
    fail_next: 3,
    respond: null,
  },
  generic: null,
  params: { topic: 'a' },
  confirm: false,
  auto_created: false,
  secrets: [],
  lacks: null,
  provider_event: null,
};

test('a form that was not touched changes nothing', () => {
  expect(changeOf(source, {})).toEqual({});
  expect(changeOf(source, fieldsOf(source))).toEqual({});
  expect(problemsOf(fieldsOf(source))).toEqual({});
});

test('only what was edited is sent', () => {
  expect(changeOf(source, { provider: 'stripe' })).toEqual({ provider: 'stripe' });
  expect(changeOf({ ...source, provider: 'stripe' }, { provider: '' })).toEqual({ provider: null });
  expect(changeOf(source, { tolerance_s: '600', on_invalid: 'reject' })).toEqual({
    tolerance_s: 600,
    on_invalid: 'reject',
  });
  expect(changeOf({ ...source, tolerance_s: 600 }, { tolerance_s: ' ' })).toEqual({ tolerance_s: null });
});

test('a host name is allowed or taken back by itself', () => {
  const kept = { ...source, allowed_hosts: ['a.example', 'b.example'] };
  expect(fieldsOf(kept).allowed_hosts).toBe('a.example b.example');
  const edited = changeOf(kept, { allowed_hosts: ' b.example, c.example' });
  expect(edited).toEqual({ allowed_hosts: { 'a.example': false, 'b.example': true, 'c.example': true } });
});

test('an answer goes out with what was edited alone, so that nothing stale is written back', () => {
  const change = changeOf(source, { status: '503', headers: 'Retry-After: 5\n\nX-A:b:c' });
  expect(change.answer).toEqual({
    status: 503,
    headers: [
      ['Retry-After', '5'],
      ['X-A', 'b:c'],
    ],
  });
  expect(changeOf(source, { body: '', fail_next: '2' }).answer).toEqual({ fail_next: 2 });
});

test('who answers is said, or left to hookmitt', () => {
  expect(changeOf(source, { respond: 'app' }).answer).toEqual({ respond: 'app' });
  expect(changeOf(source, { respond: 'auto' })).toEqual({});
  const app: SourceView = { ...source, answer: { ...source.answer, respond: 'app' } };
  expect(changeOf(app, { respond: 'auto' }).answer).toEqual({ respond: null });
});

test('params are set, changed and taken away by name', () => {
  const params = (wanted: Record<string, string>) => changeOf(source, { params: paramsText(wanted) }).params;
  expect(params({ topic: 'a' })).toBeUndefined();
  expect(params({ topic: 'b', webhook_id: '1' })).toEqual({ topic: 'b', webhook_id: '1' });
  expect(params({})).toEqual({ topic: null });
});

test('own signing settings come and go', () => {
  const own = { signing: 'own', signature_header: 'X-Signature', prefix: 'sha256=' } as const;
  expect(changeOf(source, own).generic).toMatchObject({
    signature_header: 'X-Signature',
    algorithm: 'hmac-sha256',
    prefix: 'sha256=',
    id_at: null,
  });
  expect(changeOf({ ...source, generic: {} }, { signing: 'provider' })).toEqual({ generic: null });
});

test('edits follow what is kept', () => {
  expect(realEdits(fieldsOf(source), { provider: '', status: '201' })).toEqual({ status: '201' });
});

test('what is wrong is said under its field', () => {
  const wrong = problemsOf({
    ...fieldsOf(source),
    status: '99',
    delay_ms: 'x',
    headers: 'a: b\nno header',
    public_url: 'https://x/y?z',
    tolerance_s: '-1',
  });
  expect(Object.keys(wrong).sort()).toEqual(['delay_ms', 'headers', 'public_url', 'status', 'tolerance_s']);
  expect(wrong.headers).toContain('Line 2');
});

test('own settings name their header, and places are places', () => {
  const fields = {
    ...fieldsOf(source),
    signing: 'own',
    id_at: 'data.id',
  } as const;
  expect(Object.keys(problemsOf(fields)).sort()).toEqual(['id_at', 'signature_header']);
});

test('the bar says what saving does', () => {
  expect(savingSays({ provider: 'stripe' }, 'intake')).toBe('The events of intake are verified again.');
  expect(savingSays({}, 'intake')).toBe('');
});

test('a URL that a tunnel made is shown elsewhere, and not kept as if it were a setting', () => {
  const url = 'https://two-words.trycloudflare.com/intake';
  expect(fieldsOf({ ...source, public_url: url }).public_url).toBe('');
  expect(fieldsOf({ ...source, public_url: url, public_url_set: true }).public_url).toBe(url);
});
