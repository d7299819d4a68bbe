import { describe, expect, it } from 'vitest';

import type { Connector, Day, Param, Report, SyncView } from '../api/sync';
import type { Job } from '../api/shapes';
import { around as aroundRefusal } from './refusal';
import {
  dayBars,
  dayLabel,
  daySum,
  deliverThese,
  endedEarly,
  everyOptions,
  hostsOf,
  isOffered,
  keyPlace,
  lackOf,
  lastSyncs,
  reportBrief,
  reportSentence,
  spanStart,
  syncState,
} from './sync';

const now = new Date(2026, 10, 26, 18, 0).getTime();
const at = (ago: number) => new Date(now - ago).toISOString();
const [MINUTE, HOUR] = [60_000, 3_600_000];

const param = (change: Partial<Param> = {}): Param => ({
  name: 'shop',
  label: 'Shop',
  hint: 'the name before .myshopify.com',
  value: null,
  default: null,
  optional: false,
  ...change,
});

const connector: Connector = {
  id: 'stripe',
  name: 'Stripe',
  confidence: 'confirmed',
  gives: 'event',
  days: 30,
  hosts: ['api.stripe.com'],
  scope: 'A restricted key.',
  key_hint: 'Dashboard',
  key_form: 'key',
  lost: [],
  params: [],
};

const view = (change: Partial<SyncView> = {}): SyncView => ({
  source: 'stripe',
  connector,
  key: 'keychain',
  key_env: null,
  delivery: 'ask',
  every_s: 3_600,
  lacks: null,
  synced_until: at(10 * MINUTE),
  due_in_s: 600,
  failed: null,
  job: null,
  ...change,
});

const report = (change: Partial<Report> = {}): Report => ({
  id: 7,
  source: 'stripe',
  job: 3,
  since: at(2 * HOUR),
  until: at(MINUTE),
  dry_run: false,
  began_at: at(MINUTE),
  ended_at: at(0),
  why: null,
  checked: 214,
  here: 212,
  added: 2,
  missing: 0,
  lost: 0,
  kept: 2,
  ...change,
});

const job = (change: Partial<Job> = {}): Job =>
  ({
    id: 3,
    kind: 'sync',
    asked: { source: 'stripe', dry_run: false },
    state: 'running',
    done: 412,
    total: null,
    failed: 0,
    result: { events: 0 },
    why: null,
    ...change,
  }) as Job;

describe('what a source lacks', () => {
  it('is one thing at a time, in the order in which it can be mended', () => {
    expect(lackOf(view(), 'stripe')).toBeNull();
    expect(lackOf(view({ lacks: 'x', connector: null }), null)).toBe('provider');
    expect(lackOf(view({ lacks: 'x', connector: null }), 'acme')).toBe('connector');
    const shop = param();
    const lacking = { ...connector, params: [param({ optional: true }), param({ default: 'eu' }), shop] };
    expect(lackOf(view({ lacks: 'x', connector: lacking, key: null }), 'shopify')).toBe(shop);
    expect(lackOf(view({ lacks: 'x', key: null }), 'stripe')).toBe('key');
  });
});

describe('the state of a source', () => {
  const around = { provider: 'stripe', name: 'Stripe', job: undefined, due: now + 43 * MINUTE, now };
  const said = (of: SyncView, more = {}) => {
    const { strong, rest } = syncState(of, { ...around, ...more });
    return `${strong} ${rest}`;
  };

  it('tells up to when everything is here, and when it looks again', () => {
    expect(said(view())).toBe('Complete until 17:50. Next in 43 min.');
    expect(said(view({ every_s: 0 }), { due: null })).toBe(
      'Complete until 17:50. It syncs only when you ask for it.',
    );
    expect(said(view({ synced_until: null }))).toBe('Not synced yet. Next in 43 min.');
  });

  it('tells what goes on first', () => {
    const runs = { job: job() };
    expect(said(view(), runs)).toBe('Syncing: 412 checked.');
    expect(said(view(), { job: job({ state: 'waiting' }) })).toMatch(/^Waiting/);
    expect(syncState(view({ lacks: 'no key' }), { ...around, ...runs }).icon).toBe('running');
  });

  it('tells what is missing, and why the last one failed', () => {
    expect(said(view({ lacks: 'x', key: null }))).toBe(
      'No API key. With one, Stripe is asked for what was missed.',
    );
    const failed = { job: job({ state: 'failed', why: 'the API doesn’t know this key (401)' }) };
    expect(said(view({ failed: 'it was cancelled' }))).toMatch(/^Complete/);
    expect(said(view({ failed: 'the API answers 503' }))).toBe('The last sync failed. The API answers 503.');
    expect(said(view(), failed)).toBe('The last sync failed. The API doesn’t know this key (401).');
  });
});

describe('a report', () => {
  it('is one sentence', () => {
    const say = (change: Partial<Report> = {}) => reportSentence(report(change), 'Stripe', now);
    expect(say()).toBe('Stripe had 214 events since 16:00; 212 were here, 2 were added.');
    expect(say({ here: 214, added: 0 })).toBe('Stripe had 214 events since 16:00; all were here.');
    expect(say({ checked: 1, here: 1, added: 0 })).toBe('Stripe had 1 event since 16:00; it was here.');
    expect(say({ checked: 0, here: 0, added: 0 })).toBe('Stripe had no event since 16:00.');
    expect(say({ here: 211, added: 0, missing: 1, lost: 2 })).toBe(
      'Stripe had 214 events since 16:00; 211 were here, 1 is missing, 2 can’t be recovered.',
    );
    expect(say({ until: at(HOUR) })).toMatch(/^Stripe had 214 events from 16:00 to 17:00; /);
  });

  it('says why it ended early', () => {
    expect(endedEarly(report(), false)).toBeNull();
    expect(endedEarly(report({ why: 'it was cancelled' }), false)).toBe('It was cancelled.');
    expect(endedEarly(report({ ended_at: null }), true)).toBeNull();
    expect(endedEarly(report({ ended_at: null }), false)).toBe('Hookmitt ended while it ran.');
  });

  it('is told in few words, and offers what was kept unless that is how it should be', () => {
    expect(reportBrief(report())).toBe('stripe: 2 events added');
    expect(reportBrief(report({ lost: 1 }))).toBe('stripe: 2 added, 1 not recoverable');
    expect(reportBrief(report({ added: 0, missing: 2, dry_run: true }))).toBe(
      'stripe: 2 missing, nothing added',
    );
    expect(reportBrief(report({ added: 0 }))).toBe('stripe: nothing was missing');
    expect([1, 2].map(deliverThese)).toEqual(['Deliver this one', 'Deliver these 2']);
    expect([
      isOffered(report(), 'ask'),
      isOffered(report(), 'keep'),
      isOffered(report({ kept: 0 }), 'ask'),
    ]).toEqual([true, false, false]);
  });
});

describe('days', () => {
  const day = (both: number, only_there: number, only_here: number): Day => ({
    day: '2026-11-25',
    from: at(0),
    until: at(0),
    both,
    only_there,
    only_here,
  });

  it('are named, added up and drawn against the fullest', () => {
    const days = [day(6, 2, 0), day(1, 0, 3)];
    expect(dayLabel('2026-11-25')).toBe('Wed 25');
    expect(daySum(days)).toEqual({ both: 7, only_there: 2, only_here: 3 });
    expect(dayBars(days[0]!, days)).toEqual([
      { part: 'both', share: 0.75 },
      { part: 'only_there', share: 0.25 },
    ]);
    expect(dayBars(day(0, 0, 0), [])).toEqual([]);
  });

  it('begin at midnight, but for the last 24 hours', () => {
    expect(spanStart(1, now)).toBe(now - 24 * HOUR);
    expect(new Date(spanStart(7, now))).toEqual(new Date(2026, 10, 20));
  });
});

it('offers how often to sync, and what it is set to', () => {
  expect(everyOptions(3_600).map(({ value }) => value)).toEqual(['900', '3600', '21600', '86400', '0']);
  expect(everyOptions(7_200).at(-1)).toEqual({ value: '7200', label: 'Every 2 h' });
});

it('says where the key is', () => {
  expect(keyPlace({ key: 'keychain', key_env: null })).toBe('Stored in the system keychain.');
  expect(keyPlace({ key: 'env', key_env: 'STRIPE_KEY' })).toContain('`STRIPE_KEY`');
  expect(keyPlace({ key: 'file', key_env: null })).toContain('unencrypted');
});

it('finds the newest sync of each source, or the one that runs', () => {
  const other = job({ id: 4, asked: { ...job().asked, source: 'github' }, state: 'done' });
  const [waits, retry] = [job({ id: 5, state: 'waiting' }), job({ id: 6, kind: 'retry' })];
  const last = lastSyncs([retry, waits, other, job(), job({ id: 1, state: 'failed' })]);
  expect([last.get('stripe')?.id, last.get('github')?.id]).toEqual([3, 4]);
});

it('looks for a refused event in the hour before it was refused', () => {
  expect(aroundRefusal(at(HOUR), now)).toEqual({ since: at(2 * HOUR), until: at(59 * MINUTE) });
  expect(aroundRefusal(at(1_000), now)).toEqual({ since: at(HOUR + 1_000) });
});

it('names the hosts that a key is sent to, as far as they are known', () => {
  const hosts = ['<shop>.myshopify.com', 'api.example.com'];
  expect(hostsOf({ ...connector, hosts, params: [param()] })).toEqual(hosts);
  expect(hostsOf({ ...connector, hosts, params: [param({ value: 'acme' })] })[0]).toBe('acme.myshopify.com');
});
