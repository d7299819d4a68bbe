import { beforeEach, expect, test, vi } from 'vitest';

import type { Outline, Suggestion } from '../api/search';
import { allEvents, route } from '../state/route.svelte';

const outlineOf = vi.fn<(q: string, caret: number, signal?: AbortSignal) => Promise<Outline>>();
vi.mock('../api/search', () => ({ outlineOf }));
vi.stubGlobal('location', { hash: '' });
vi.stubGlobal('history', { pushState: () => {}, replaceState: () => {} });
const { Draft } = await import('./draft.svelte');
const { search } = await import('./search.svelte');

const offer = (text: string): Suggestion => ({ text, label: text, note: null, count: null });

/** A small hookmitt: it cuts at spaces outside of quotes, and knows no verdict called wrong. */
function understand(q: string, caret: number): Outline {
  const terms = [...q.matchAll(/-?(?:(\w+):)?(?:"[^"]*"?|[^\s"]+)/g)].map((match) => {
    const [text] = match;
    const key = match[1] === undefined ? null : `${match[1]}:`;
    const value = text.replace(/^-/, '').replace(key ?? '', '');
    return { start: match.index, end: match.index + text.length, negated: text.startsWith('-'), key, value };
  });
  const wrong = q.indexOf('wrong');
  const fault =
    wrong < 0 ? null : { start: wrong, end: wrong + 5, message: 'No verdict is called “wrong”.', hint: null };
  const start = q.slice(0, caret).search(/\S*$/);
  const suggestions = { start, end: caret, items: [offer('verdict:'), offer('verdict:invalid')] };
  return { terms, fault, marks: [], suggestions };
}

let draft: InstanceType<typeof Draft>;
const chips = () => draft.chips.map(({ text }) => text);
const soon = () => vi.advanceTimersByTimeAsync(100);

async function type(text: string) {
  draft.type(text, text.length);
  await soon();
}

beforeEach(() => {
  vi.useFakeTimers();
  outlineOf.mockReset().mockImplementation((q, caret) => Promise.resolve(understand(q, caret)));
  route.go(allEvents);
  draft = new Draft();
});

test('a space after a term makes it a chip, and the list is filtered by it', async () => {
  await type('verdict:invalid');
  expect([chips(), search.text]).toEqual([[], '']);
  await type('verdict:invalid ');
  expect([chips(), draft.typed, search.text]).toEqual([['verdict:invalid'], '', 'verdict:invalid']);
  await type('-type:ping ');
  expect(search.text).toBe('verdict:invalid -type:ping');
});

test('a space within quotes belongs to the term', async () => {
  await type('type:"user ');
  expect(chips()).toEqual([]);
  await type('type:"user created" ');
  expect(chips()).toEqual(['type:"user created"']);
});

test('Enter applies what is typed, and keeps the search', async () => {
  await type('ada');
  expect(await draft.enter()).toBe(true);
  expect([chips(), search.text]).toEqual([['ada'], 'ada']);
});

test('a fault is told in the columns of the text that is typed, and nothing is applied', async () => {
  await type('type:push ');
  await type('verdict:wrong');
  expect(draft.fault).toBeNull(); // it may become something else
  expect(await draft.enter()).toBe(false);
  expect([draft.fault?.start, draft.fault?.end]).toEqual([8, 13]);
  expect([search.text, draft.typed]).toEqual(['type:push', 'verdict:wrong']);
  await type('verdict:wro');
  expect(draft.fault).toBeNull();
});

test('Backspace makes the last chip text again, which is no part of the search until it is applied', async () => {
  await type('type:push ');
  await type('verdict:valid ');
  draft.unpick();
  await soon();
  expect([chips(), draft.typed, search.text]).toEqual([['type:push'], 'verdict:valid', 'type:push']);
});

test('a chip that is removed leaves what is typed alone', async () => {
  await type('type:push ');
  await type('ad');
  draft.remove(draft.chips[0]!);
  await draft.show(search.text); // as the page does whenever the search changes
  expect([chips(), draft.typed, search.text]).toEqual([[], 'ad', '']);
});

test('a suggestion replaces what it completes; a key waits for its value, a value becomes a chip', async () => {
  await type('type:push ');
  await type('ver');
  expect(draft.accept(offer('verdict:'))).toBe(8);
  await soon();
  expect([chips(), draft.typed]).toEqual([['type:push'], 'verdict:']);
  draft.accept(offer('verdict:invalid'));
  await soon();
  expect([chips(), draft.typed]).toEqual([['type:push', 'verdict:invalid'], '']);
});

test('a search that was applied elsewhere shows as chips; one with a fault as text', async () => {
  route.go({ ...allEvents, q: 'type:push ada' });
  await draft.show(search.text);
  expect(chips()).toEqual(['type:push', 'ada']);
  route.go({ ...allEvents, q: 'verdict:wrong' });
  await draft.show(search.text);
  expect([chips(), draft.typed, draft.fault?.start]).toEqual([[], 'verdict:wrong', 8]);
  route.go(allEvents);
  await draft.show(search.text);
  expect([chips(), draft.typed, draft.fault]).toEqual([[], '', null]);
});

test('hookmitt is asked once in a while of typing, and an answer that comes too late is dropped', async () => {
  for (const text of ['a', 'ad', 'ada']) draft.type(text, text.length);
  await soon();
  expect(outlineOf).toHaveBeenCalledTimes(1);
  let late = (_outline: Outline) => {};
  outlineOf.mockReturnValueOnce(new Promise((resolve) => (late = resolve)));
  await type('ada ');
  await type('adam');
  late(understand('ada ', 4));
  await soon();
  expect([chips(), draft.typed]).toEqual([[], 'adam']);
});

test('if hookmitt does not answer, the text is applied as it is', async () => {
  outlineOf.mockRejectedValue(new Error('no answer'));
  await type('type:push');
  expect(await draft.enter()).toBe(true);
  expect(search.text).toBe('type:push');
});

test('until hookmitt has answered, only what still fits the typed text is offered', async () => {
  await type('verdict:');
  const offered = () => draft.offered?.items.map(({ text }) => text);
  expect(offered()).toEqual(['verdict:', 'verdict:invalid']);
  draft.type('verdict:i', 9);
  expect(offered()).toEqual(['verdict:invalid']); // Tab would put the key in the place of what is typed
  draft.type('verdict:x', 9);
  expect(offered()).toEqual([]);
  await soon();
  expect(offered()).toEqual(['verdict:', 'verdict:invalid']);
});
