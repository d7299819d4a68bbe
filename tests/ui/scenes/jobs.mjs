// Jobs: under way, failed in parts, stopped, and their list.
import { seed } from '../support/inbox.mjs';
import { job, pretendJobs } from '../support/jobs.mjs';
import { LOOK, NARROW, PHONE, both } from '../support/picture.mjs';

const reasons = ['it hasn\'t been sent to a target yet: `hookmitt replay` sends it', 'its target was removed', 'it is being sent'];

/** Jobs in every state. */
export async function jobs(stage) {
  const hookmitt = await stage.hookmitt();
  const { servers } = await seed(hookmitt.api, hookmitt.capture);
  stage.leaves(() => Promise.all(servers.map((server) => server.stop().catch(() => {}))));
  const now = Date.now();
  const at = (ago) => new Date(now - ago).toISOString();
  const ended = { created_at: at(3_700_000), started_at: at(3_700_000), ended_at: at(3_600_000) };
  const failures = reasons.concat(reasons, reasons).map((why, at) => ({ event_id: '0199a5f0-1111-7abc-8def-0123456789ab', seq: 214 - at * 3, why }));
  const all = [
    job(now),
    job(now, { id: 11, kind: 'retry', asked: { q: 'status:dead_letter', events: null }, done: 1_204, total: 1_204, failed: 9, state: 'done', asked_by: 'cli', result: { events: 1_195, deliveries: 1_302 }, ...ended }),
    job(now, { id: 10, kind: 'restore', asked: { q: 'is:deleted source:github', events: null }, state: 'stopped', done: 5_210, total: 8_000, result: { events: 5_210, deliveries: 3 }, ...ended }),
    job(now, { id: 9, asked: { q: null, events: 57 }, state: 'failed', done: 20, total: 57, why: 'the disk that holds the inbox is full: free some space', result: { events: 20, deliveries: 0 }, ...ended }),
  ];
  const ui = await stage.page(hookmitt, LOOK);
  await pretendJobs(ui.page, all, failures);
  await ui.page.goto(await hookmitt.freshUrl());
  await ui.ready();
  await both(ui, 'jobs-running', '#/jobs/12', '412 of 10,000');
  await both(ui, 'jobs-failed', '#/jobs/11', 'its target was removed');
  await both(ui, 'jobs-stopped', '#/jobs/10', 'Hookmitt ended while it ran');
  await both(ui, 'jobs-broken', '#/jobs/9', 'the disk that holds the inbox is full');
  await both(ui, 'jobs-list', '#/settings/jobs', 'status:dead_letter');
  await both(ui, 'jobs-narrow', '#/jobs/12', '412 of 10,000', NARROW);
  await both(ui, 'jobs-phone', '#/jobs/11', 'its target was removed', PHONE);
}
