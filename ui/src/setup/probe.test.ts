import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Probe } from './probe.svelte';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the port is asked once typing rests', async () => {
  const ask = vi.fn(async () => true);
  const probe = new Probe(ask);
  for (const text of ['3', '30', '300', '3000']) probe.look(text);
  expect(probe.now).toEqual({ state: 'looking', place: 'port 3000' });
  await vi.advanceTimersByTimeAsync(300);
  expect(ask).toHaveBeenCalledOnce();
  expect(probe.now).toEqual({ state: 'answers', place: 'port 3000' });
});

test('an answer that comes late says nothing about what was typed since', async () => {
  const answers: ((answers: boolean) => void)[] = [];
  const probe = new Probe(() => new Promise((resolve) => answers.push(resolve)));
  probe.look('3000', 0);
  await vi.advanceTimersByTimeAsync(0);
  probe.look('4000', 0);
  await vi.advanceTimersByTimeAsync(0);
  answers[1]?.(false);
  answers[0]?.(true);
  await vi.advanceTimersByTimeAsync(0);
  expect(probe.now).toEqual({ state: 'silent', place: 'port 4000' });
});

test('what can’t be a target is not asked', async () => {
  const ask = vi.fn(async () => true);
  const probe = new Probe(ask);
  probe.look('ftp://x');
  await vi.advanceTimersByTimeAsync(1000);
  expect(probe.now.state).toBe('wrong');
  probe.look(' ');
  expect(probe.now.state).toBe('nothing');
  expect(ask).not.toHaveBeenCalled();
});

test('a refusal says why', async () => {
  const probe = new Probe(() => Promise.reject(new Error('that leads to hookmitt itself')));
  probe.look('4400', 0);
  await vi.advanceTimersByTimeAsync(0);
  expect(probe.now).toEqual({ state: 'refused', problem: 'that leads to hookmitt itself' });
});
