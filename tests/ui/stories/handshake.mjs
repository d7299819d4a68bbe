// Set-up requests: answered at once, shown as what they are, finished by hand where that is needed.
import assert from 'node:assert/strict';

import { hasNoBarriers, says, sees } from '../support/see.mjs';
import { slackEvents } from '../support/samples.mjs';
import { SECRETS, signed } from '../support/senders.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

story('a set-up request shows what was asked and what was answered', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('chat', { provider: 'slack' });
  await hookmitt.api.secret('chat', SECRETS.slack);
  const ui = await stage.open(hookmitt);
  const answer = await hookmitt.post('chat', await signed('slack', { body: slackEvents.handshake() }));
  assert.equal(answer.status, 200);
  await ui.select('url_verification');
  await says(ui.panel, 'Handshake', 'Slack asked for url_verification', '200 at once');
  await hasNoBarriers(ui.page, 'a set-up request');
});

story('a secret that a set-up request brings is kept on a click, and never shown', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('tasks', { provider: 'asana' });
  const ui = await stage.open(hookmitt);
  const secret = 'b537207f20cbfa02357cf448134da559';
  const answer = await hookmitt.post('tasks', { body: '{}', headers: [['X-Hook-Secret', secret], ['Content-Type', 'application/json']] });
  assert.equal(answer.headers['x-hook-secret'], secret);
  await sees(ui.rows.first());
  await ui.rows.first().click();
  await says(ui.panel, 'It brings the secret that Asana signs with from now on');
  await ui.button('Save this secret', ui.panel).click();
  await eventually('it is kept', async () => (await hookmitt.api.ask('GET', '/api/secrets?source=tasks')).items.length === 1);
  await eventually('and not offered again', async () => (await ui.button('Save this secret', ui.panel).count()) === 0);
});
