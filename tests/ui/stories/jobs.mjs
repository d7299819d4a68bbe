// Jobs: followed while they run, cancelled and resumed, and looked up afterwards.
import assert from 'node:assert/strict';

import { job, pretendJobs } from '../support/jobs.mjs';
import { gone, hasNoBarriers, says, sees } from '../support/see.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

story('a job that somebody began elsewhere is done in a moment, and its toast leads to it', async (stage) => {
  const hookmitt = await stage.hookmitt();
  for (let at = 0; at < 12; at += 1) await hookmitt.post('shop', { path: `/order/${at}`, body: '{"a":1}' });
  const ui = await stage.open(hookmitt);
  await hookmitt.api.call('POST', '/api/retry', { q: 'order' });
  await sees(ui.page.getByText('0 events retried, 12 failed'));
  await ui.page.getByRole('button', { name: 'Show', exact: true }).click();
  const page = ui.page.getByRole('main', { name: 'Job' });
  await says(page, 'Retry order', 'Done', '12 of 12', 'It hasn’t been sent to a target yet');
  await hasNoBarriers(ui.page, 'a job and what failed in it');
});

story('a job that runs stands at the foot of the left pane, and is cancelled and resumed on its page', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.post('shop', { body: '{"a":1}' });
  const ui = await stage.page(hookmitt);
  const told = await pretendJobs(ui.page, [job(Date.now())]);
  await ui.page.goto(await hookmitt.freshUrl());
  await ui.ready();
  const foot = ui.page.getByRole('list', { name: 'Jobs' });
  await says(foot, 'Delete source:stripe-test type:invoice', '412 of 10,000');
  await hasNoBarriers(ui.page, 'a job runs');
  await foot.getByRole('link').click();
  const page = ui.page.getByRole('main', { name: 'Job' });
  await says(page, 'Running', '412 of 10,000', 'the page');
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await says(page, 'Cancelled', 'What was done stays');
  await gone(foot);
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await says(page, 'Waiting');
  await eventually('both were asked for', () => told.orders.length === 2);
  assert.deepEqual(told.orders, ['DELETE', 'POST']);

  await ui.go('#/settings/jobs');
  await says(ui.page.getByRole('row').filter({ hasText: 'source:stripe-test' }), 'Waiting');
  await hasNoBarriers(ui.page, 'the list of jobs');
});
