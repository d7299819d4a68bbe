// The load: signed events of GitHub's shape, the same ones in every run.
import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import { keepAlive } from '../support/http.mjs';
import { eventually } from '../support/wait.mjs';

/** The seed of the random numbers. */
export const SEED = 20_261_121;

const SECRET = 'the secret of the load';
const CONNECTIONS = 32;
const NAMES = ['push', 'issues', 'pull_request', 'check_suite', 'workflow_run', 'release'];
const SUBJECTS = ['Water the tomatoes twice on hot days', 'Close the roof when it rains', 'Crash on empty beds', 'Count the beds once', 'Retries when the roof is open'];

/** Returns a generator of pseudo-random numbers that are the same in each run (mulberry32). */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const random = numbers(SEED);
const one = (list) => list[Math.floor(random() * list.length)];

function request(number) {
  const title = `${one(SUBJECTS)} (${number})`;
  const repository = { id: 812345678, name: 'greenhouse', full_name: 'octo/greenhouse', private: false, default_branch: 'main' };
  const body = Buffer.from(JSON.stringify({ action: 'opened', repository, issue: { number, title, state: 'open', body: 'x'.repeat(Math.floor(random() * 600)) } }));
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const headers = [['User-Agent', 'GitHub-Hookshot/044aadd'], ['Accept', '*/*'], ['Content-Type', 'application/json'], ['X-GitHub-Event', one(NAMES)],
    ['X-GitHub-Delivery', `${SEED}-${number}`], ['X-Hub-Signature-256', `sha256=${signature}`]];
  return { headers, body };
}

async function post(hookmitt, agent, number) {
  const answer = await hookmitt.post('load', { ...request(number), agent });
  if (answer.status !== 200) throw new Error(`event ${number} was answered ${answer.status}`);
}

/** Stores this many events as fast as they are accepted. */
export async function fill(hookmitt, count) {
  await hookmitt.api.source('load', { provider: 'github' });
  await hookmitt.api.secret('load', SECRET);
  const agent = keepAlive(CONNECTIONS);
  let next = 0;
  const sender = async () => {
    while (next < count) await post(hookmitt, agent, next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sender));
  agent.destroy();
  await eventually('all of them are stored', async () => (await hookmitt.api.ask('GET', '/api/stats')).events >= count);
}

/** Sends `rate` events per second until `end` is called, which returns the rate that was reached. */
export function streamed(hookmitt, rate, first) {
  const agent = keepAlive(CONNECTIONS);
  const begun = performance.now();
  let [stopped, sent] = [false, 0];
  const seconds = () => (performance.now() - begun) / 1000;
  const run = (async () => {
    while (!stopped) {
      const due = Math.floor(seconds() * rate) - sent;
      const batch = Array.from({ length: Math.min(due, CONNECTIONS) }, (_, at) => post(hookmitt, agent, first + sent + at));
      sent += batch.length;
      await Promise.all(batch);
      await pause(10); // the pace of the load
    }
    agent.destroy();
    return sent / seconds();
  })();
  return {
    end: () => {
      stopped = true;
      return run;
    },
  };
}
