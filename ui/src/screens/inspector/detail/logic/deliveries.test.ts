import { describe, expect, it } from 'vitest';
import type { Attempt, Delivery, Event, Target } from '../../../../api/shapes';
import { comparison, conflictSentence } from './copies';
import { deliveryWords, isRejected } from './delivery-words';
import { ordinal, plain } from './phrase';
import { byTarget, captureToDone, lastFailure, offsetText, timeline, tookText } from './timeline';

const START = Date.parse('2026-11-20T09:00:00.000Z');
const moment = (ms: number) => new Date(START + ms).toISOString();

function attempt(number: number, at: number, status: number | null, error: string | null = null): Attempt {
  return {
    number,
    started_at: moment(at),
    duration_ms: 10,
    response_status: status,
    response_headers: [],
    response_body: '',
    response_truncated: false,
    error,
    ambiguous: false,
  };
}

function delivery(
  status: Delivery['status'],
  attempts: Attempt[] = [],
  last_error: string | null = null,
): Delivery {
  const id = 'e.1';
  return {
    id,
    target: 'http://localhost:3000',
    target_id: 1,
    status,
    replay: false,
    queue: null,
    last_error,
    attempts,
    completed_at: null,
    next_attempt_at: null,
  };
}

const target = { id: 1, attempts: 5, paused: false, state: { is: 'untried' } } as unknown as Target;
const silent: Target['state'] = {
  is: 'silent',
  since: moment(0),
  why: 'connection_refused',
  error: 'connection refused by localhost:3000',
};
const around = { target, waiting: 0, verdict: 'valid' as const };

describe('a delivery in words', () => {
  const words = (of: Delivery, change: Partial<Target> = {}) =>
    deliveryWords(of, { ...around, target: { ...target, ...change } });

  it('counts attempts', () => {
    const tries = [attempt(1, 0, 503), attempt(2, 100, 500), attempt(3, 200, 200)];
    expect(words(delivery('completed', tries)).state).toBe('completed on attempt 3 of 5');
    expect(deliveryWords(delivery('completed', tries), { ...around, target: undefined }).state).toBe(
      'completed on attempt 3',
    );
    expect(words(delivery('processing', [attempt(1, 0, 500)])).state).toBe('sending, attempt 2 of 5');
  });

  it('knows an app that rejects what is genuine', () => {
    const rejected = delivery('failed', [attempt(1, 0, 400)]);
    expect(isRejected(rejected, 'valid')).toBe(true);
    expect(isRejected(rejected, 'no_secret')).toBe(false);
    expect(isRejected(delivery('failed', [attempt(1, 0, 404)]), 'valid')).toBe(false);
    expect(isRejected(delivery('completed', [attempt(1, 0, 401), attempt(2, 9, 200)]), 'valid')).toBe(false);
  });

  it('says since when a target is paused and why', () => {
    const down = delivery('pending', [], 'connection refused by localhost:3000');
    const { detail, action } = words(down, { state: silent });
    expect(detail).toMatch(
      /^Paused at \d\d:\d\d: connection refused\. No attempt is used up; sending starts when the port answers\.$/,
    );
    expect(action).toBe('try');
    expect(words(down, { paused: true }).action).toBe('resume');
  });

  it('takes no answer of an earlier attempt for the reason why nobody answers', () => {
    const { detail } = words(delivery('pending', [attempt(1, 0, 500)], 'answered 500'), { state: silent });
    expect(detail).toContain(': connection refused. ');
  });

  it('says which place a delivery has among those that wait', () => {
    const queued = (place: number, of: number) => ({ ...delivery('pending'), queue: { place, of } });
    expect(words(queued(11, 14), { paused: true }).state).toBe('waiting, 11th of 14 for this target');
    expect(words(queued(1, 1200), { state: silent }).state).toBe('waiting, first of 1,200 for this target');
    expect(words(queued(1, 1), { paused: true }).state).toBe('waiting');
    const newest = { ...around, target: { ...target, paused: true }, waiting: 4 };
    expect(deliveryWords(queued(1, 2), newest).state).toBe('waiting, first of 4 for this target');
  });

  it('says why it gave up', () => {
    expect(words(delivery('dead_letter', [attempt(1, 0, 500), attempt(2, 0, 500)])).detail).toBe(
      'Gave up after 2 attempts; the last answer was 500.',
    );
    const unclear = { ...attempt(1, 0, null, 'no answer within 30 s'), ambiguous: true };
    expect(words(delivery('dead_letter', [unclear])).detail).toBe(
      'Gave up after 1 attempt. No answer after the request was sent: it may have arrived.',
    );
    expect(words(delivery('dead_letter', [attempt(1, 0, null, 'TLS with a failed: x')])).detail).toBe(
      'Gave up after 1 attempt: TLS with a failed: x.',
    );
    expect(words(delivery('failed', [attempt(1, 0, 422)])).detail).toContain('422, which is final');
    expect(words(delivery('failed', [], 'the target was removed')).detail).toBe('The target was removed.');
  });

  it('offers to deliver what backup sync kept', () => {
    const kept = words(delivery('skipped', [], 'kept by backup sync'));
    expect([kept.state, kept.action]).toEqual(['not delivered: kept by backup sync', 'deliver']);
  });

  it('offers to forward what was skipped, unless it was rejected', () => {
    expect(
      words(delivery('skipped', [], 'a duplicate of an event that this target has or gets')).action,
    ).toBe('forward');
    for (const why of ['its signature was rejected', 'waits for its verdict']) {
      const unproved = delivery('skipped', [], why);
      expect(deliveryWords(unproved, { ...around, verdict: 'pending' }).action).toBeNull();
      expect(deliveryWords(unproved, around).action).toBe('forward');
    }
  });
});

describe('the timeline', () => {
  const tries = [attempt(1, 0, 503), attempt(2, 490, 500), attempt(3, 990, 200)];

  it('puts every attempt on one axis', () => {
    const beats = timeline(delivery('completed', tries), moment(0));
    expect(beats.map(({ at, from, start, end }) => [at, from, start, end])).toEqual([
      [0, 0, 0, 0],
      [10, 0, 0, 1],
      [500, 1, 49, 50],
      [1000, 50, 99, 100],
    ]);
  });

  it('begins with the first attempt, however long the event waited for it', () => {
    const beats = timeline(delivery('completed', tries), moment(-7_200_000));
    expect(beats.map(({ start, end }) => [start, end]).slice(1)).toEqual([
      [0, 1],
      [49, 50],
      [99, 100],
    ]);
    expect(beats[1]?.at).toBe(7_200_010);
  });

  it('keeps times short', () => {
    const took = (duration_ms: number, ambiguous = false) => tookText({ duration_ms, ambiguous });
    expect([took(0), took(61), took(312_000)]).toEqual(['< 1 ms', '61 ms', '5 min']);
    expect([took(0, true), took(30_000, true)]).toEqual(['–', '30.0 s']);
    expect([0, 6_400, 902_000].map(offsetText)).toEqual(['0 ms', '6.40 s', '15 min']);
  });

  it('has no capture for a replay, and copes with nothing', () => {
    expect(timeline(delivery('pending'), null)).toEqual([]);
    expect(timeline(delivery('pending'), moment(0)).length).toBe(1);
  });

  it('knows the last failure and the time to the answer', () => {
    expect(lastFailure(delivery('completed', tries))).toBe(2);
    expect(lastFailure(delivery('completed', [attempt(1, 0, 200)]))).toBeNull();
    expect(captureToDone([delivery('completed', tries)], moment(0))).toEqual({ ms: 1000, status: 200 });
  });

  it('lets the latest delivery stand for its target', () => {
    const replay = { ...delivery('pending'), id: 'e.3', replay: true };
    const other = { ...delivery('failed'), id: 'e.2', target: 'http://localhost:8787' };
    const groups = byTarget([delivery('completed'), other, replay]);
    expect(groups.map(({ latest, earlier }) => [latest.id, earlier])).toEqual([
      ['e.3', 1],
      ['e.2', 0],
    ]);
  });
});

describe('copies', () => {
  const event = { status: 'skipped' } as Event;
  const copy = (values: [string, string | null, string | null][]) => ({
    event,
    number: 3,
    difference: {
      kind: 'values' as const,
      values: values.map(([pointer, first, other]) => ({ pointer, first, other })),
    },
  });
  const said = (values: [string, string | null, string | null][]) =>
    plain(conflictSentence(copy(values)) ?? []);

  it('name the value that differs', () => {
    expect(said([['/pending_webhooks', '2', '1']])).toBe(
      '/pending_webhooks is 2 in the first and 1 in the third. The third was stored but not forwarded.',
    );
    expect(comparison(copy([['/a', '1', '2']]).difference)).toBe('1 value differs');
  });

  it('name three of many', () => {
    const sentence = said([
      ['/a', '1', '2'],
      ['/b', '1', null],
      ['/c', null, '"x"'],
      ['/d', '1', '2'],
      ['/e', '1', '2'],
    ]);
    expect(sentence).toContain('/b is only in the first, /c is only in the third and 2 more values differ.');
  });

  it('count as people do', () => {
    expect([1, 10, 11, 12, 21, 22, 103, 111].map(ordinal)).toEqual([
      'first',
      'tenth',
      '11th',
      '12th',
      '21st',
      '22nd',
      '103rd',
      '111th',
    ]);
  });
});
