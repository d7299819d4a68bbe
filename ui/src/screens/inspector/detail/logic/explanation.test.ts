import { expect, it } from 'vitest';
import type { Framework, TriedCause } from '../signature/explanation';
import { codeTokens } from './code-tokens';
import { chosenFramework, fixedCode, invalidTitle, numbered, split, triedWords } from './explanation-words';

const cause = (code: string, state: TriedCause['state']): TriedCause => ({
  code,
  title: code,
  state,
  evidence: '',
  message: '',
  fix: '',
});

it('names what fits and the first that don’t, and folds the rest', () => {
  const out = ['a', 'b', 'c', 'd', 'e'].map((code) => cause(code, 'ruled_out'));
  const { first, rest } = split([cause('p', 'proven'), cause('l', 'likely'), ...out]);
  expect(first.map(({ code }) => code).join('')).toBe('plabc');
  expect(rest.map(({ code }) => code).join('')).toBe('de');
});

it('says how much was tried, and keeps the word Invalid', () => {
  const found = [cause('body_reserialized', 'proven'), cause('bom_added', 'ruled_out')];
  expect(triedWords({ tried: 22, took_ms: 9.2, causes: found })).toBe('22 in 9 ms');
  expect(triedWords({ tried: 3, took_ms: 0.4, causes: found })).toBe('3 in under 1 ms');
  expect(invalidTitle('The body was cut.')).toBe('Invalid: the body was cut.');
  expect(invalidTitle('Stripe’s secret changed.')).toBe('Invalid: Stripe’s secret changed.');
  expect(invalidTitle('Invalid: the body was cut.')).toBe('Invalid: the body was cut.');
});

it('takes “no secret fits” for what follows, not for a cause', () => {
  const none = [cause('no_match', 'likely'), cause('bom_added', 'ruled_out')];
  expect(split(none).first.map(({ code }) => code)).toEqual(['bom_added']);
  expect(triedWords({ tried: 25, took_ms: 9, causes: none })).toBe('All ruled out, 25 in 9 ms');
});

it('shows the framework that was chosen before, else the guess', () => {
  const one = (id: string, guessed = false): Framework => ({ id, name: id, guessed, why: null, lines: [] });
  const all = [one('express'), one('flask', true), one('rails')];
  expect(chosenFramework(all, 'rails')?.id).toBe('rails');
  expect(chosenFramework(all, 'gone')?.id).toBe('flask');
  expect(chosenFramework([one('express')], null)?.id).toBe('express');
});

it('numbers the code as it should be, and copies that', () => {
  const lines = [
    { kind: 'same', text: 'a' },
    { kind: 'del', text: 'b' },
    { kind: 'add', text: 'c' },
  ] as const;
  expect(numbered(lines).map(({ number }) => number)).toEqual([1, null, 2]);
  expect(fixedCode(lines)).toBe('a\nc');
});

it('tells words, texts and comments of code apart', () => {
  const kinds = (line: string) =>
    codeTokens(line)
      .filter(({ kind }) => kind !== 'plain')
      .map(({ kind, text }) => `${kind} ${text}`);
  expect(kinds("const app = its.use('/a'); // raw")).toEqual([
    'keyword const',
    "string '/a'",
    'comment // raw',
  ]);
  expect(kinds('# the bytes')).toEqual(['comment # the bytes']);
  expect(kinds('#[post("/x")]')).toEqual(['string "/x"']);
  expect(
    codeTokens("x = 'it")
      .map(({ text }) => text)
      .join(''),
  ).toBe("x = 'it");
});
