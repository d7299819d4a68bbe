import { describe, expect, it } from 'vitest';

import type { Job } from '../api/shapes';
import { jobAbout, jobName, jobNote, jobProgress, jobResult, jobShare } from './job';
import { dateTime } from './time';

const NOTHING = {
  q: null,
  events: null,
  file: null,
  becomes: null,
  source: null,
  until: null,
  before: null,
  synced_by: null,
  dry_run: false,
};

const job = (change: Partial<Job> = {}): Job => ({
  id: 7,
  kind: 'delete',
  asked: { ...NOTHING, q: 'type:push' },
  asked_by: 'page',
  state: 'running',
  done: 412,
  total: 10_000,
  failed: 0,
  result: { events: 412, deliveries: 0 },
  why: null,
  created_at: '2026-11-20T08:00:00Z',
  started_at: '2026-11-20T08:00:00Z',
  ended_at: null,
  ...change,
});

describe('a job in words', () => {
  it('says how far it is', () => {
    expect(jobProgress(job())).toBe('412 of 10,000');
    expect(jobProgress(job({ total: null }))).toBe('Counting');
    expect(jobProgress(job({ state: 'waiting' }))).toBe('Waiting');
    expect([job(), job({ total: null }), job({ done: 0, total: 0 })].map(jobShare)).toEqual([0.0412, 0, 1]);
  });

  it('says which events it is about', () => {
    expect(jobAbout(job())).toBe('type:push');
    expect(jobAbout(job({ asked: { ...NOTHING, events: 12 } }))).toBe('12 events');
    expect(jobAbout(job({ asked: { ...NOTHING, source: 'demo' } }))).toBe('demo');
    const until = '2026-11-20T08:00:00Z';
    expect(jobAbout(job({ asked: { ...NOTHING, source: 'demo', until } }))).toBe(
      `demo, before ${dateTime(until)}`,
    );
    expect(jobAbout(job({ kind: 'empty', asked: NOTHING }))).toBe('');
    expect(jobAbout(job({ kind: 'backup', asked: { ...NOTHING, becomes: '/b.db' } }))).toBe('/b.db');
  });

  it('says what it has changed', () => {
    expect(jobResult(job())).toBe('412 events deleted');
    expect(jobResult(job({ result: { events: 1, deliveries: 1 }, failed: 2 }))).toBe(
      '1 event deleted, 1 delivery ended, 2 failed',
    );
    expect(jobResult(job({ kind: 'retry', result: { events: 1, deliveries: 1 } }))).toBe(
      '1 event retried, 1 delivery waits again',
    );
  });

  it('says how far a sync is, which has no end that anybody knows', () => {
    const sync = job({ kind: 'sync', asked: { ...NOTHING, source: 'stripe' }, total: null, done: 1_204 });
    expect([jobName(sync), jobAbout(sync), jobProgress(sync)]).toEqual(['Sync', 'stripe', '1,204 checked']);
    expect(jobShare(sync)).toBeNull();
    expect(jobShare({ ...sync, state: 'done' })).toBe(1);
    expect(jobResult({ ...sync, result: { events: 2, deliveries: 0 } })).toBe('2 events added');
    expect(jobResult({ ...sync, result: { events: 2, deliveries: 3 } })).toBe(
      '2 events added, 3 deliveries wait',
    );
    const dry = { ...sync, asked: { ...sync.asked, dry_run: true }, result: { events: 0 } };
    expect(jobAbout(dry)).toBe('stripe, only showing what is missing');
    expect(jobResult(dry)).toBe('1,204 events checked, nothing added');
  });

  it('names the delivery of what a sync added', () => {
    const deliver = job({ kind: 'retry', asked: { ...NOTHING, synced_by: 7 }, result: { events: 2 } });
    expect(`${jobName(deliver)} ${jobAbout(deliver)}`).toBe('Deliver what sync 7 added');
    expect(jobResult(deliver)).toBe('2 events queued');
  });

  it('says why it ended', () => {
    expect(jobNote(job({ state: 'failed', why: 'the disk is full' }))).toBe('The disk is full.');
    expect(jobNote(job({ state: 'stopped' }))).toMatch(/^Hookmitt ended while it ran/);
    expect(jobNote(job())).toBeNull();
  });
});
