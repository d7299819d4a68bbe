// Set-up requests: answered at once, shown as such, finished by hand if necessary.
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
  await says(ui.panel, 'It contains the secret that Asana signs with from now on', 'Sent by 127.0.0.1');
  await ui.button('Save this secret', ui.panel).click();
  await eventually('it is kept', async () => (await hookmitt.api.ask('GET', '/api/secrets?source=tasks')).items.length === 1);
  await eventually('and not offered again', async () => (await ui.button('Save this secret', ui.panel).count()) === 0);
});

story('threat 11: a secret is offered for a set provider only, and a second one is not added by a click', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('tasks', {});
  const ui = await stage.open(hookmitt);
  const bring = (secret) =>
    hookmitt.post('tasks', { body: '{}', headers: [['X-Hook-Secret', secret], ['Content-Type', 'application/json']] });
  await bring('b537207f20cbfa02357cf448134da559');
  await sees(ui.rows.first());
  await ui.rows.first().click();
  await says(ui.panel, 'set to a provider', 'Sent by 127.0.0.1', 'source edit tasks --provider');
  assert.equal(await ui.button('Save this secret', ui.panel).count(), 0);

  await hookmitt.api.ask('PATCH', '/api/sources/tasks', { provider: 'asana' });
  await hookmitt.api.secret('tasks', 'the first');
  await bring('0000000000000000000000000000aaaa');
  await eventually('the second is there', async () => (await ui.rows.count()) === 2);
  await ui.rows.first().click();
  await says(ui.panel, 'tasks already has one', "secret accept '#2' --label");
  assert.equal(await ui.button('Save this secret', ui.panel).count(), 0);
});
