// The first minutes with an empty inbox.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { Programs } from '../support/detours.mjs';
import { stripe } from '../support/samples.mjs';
import { hasNoBarriers, says, sees } from '../support/see.mjs';
import { SECRETS, signed } from '../support/senders.mjs';
import { story } from '../support/stage.mjs';
import { eventually, LONG } from '../support/wait.mjs';

const run = promisify(execFile);

story('the first run shows where to send, and a test event comes in through the real port and is selected', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const ui = await stage.open(hookmitt);
  await sees(ui.page.getByRole('heading', { name: 'Ready to catch' }));
  await says(ui.page.locator('body'), 'Events are stored before they are answered', new URL(hookmitt.capture).host, 'curl', 'Waiting for the first event');

  await ui.button(/^Send test event/).click();

  await says(ui.selected, /invoice\.paid|checkout|payment|push|demo|stripe/i);
  const [event] = await hookmitt.api.events();
  assert.equal(event.method, 'POST');
  await says(ui.detail, event.type ?? event.path);
});

story('the first event is opened, also where the page hears of the count before it hears of the event', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const ui = await stage.page(hookmitt);
  let counted = 0;
  let asked = 0;
  await ui.page.route('**/api/stats', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...await answer.json(), events: counted } });
    if (counted) asked += 1;
  });
  await ui.page.goto(await hookmitt.freshUrl());
  await says(ui.page.locator('body'), 'Waiting for the first event');
  counted = 1;
  await hookmitt.api.source('shop');
  await eventually('the page has heard of it', async () => asked > 0 && (await ui.page.getByRole('link', { name: 'All events 1' }).count()) === 1);
  await hookmitt.post('shop', { path: '/hooks' });
  await says(ui.selected, '/shop/hooks');
});

story('of several events that come at once, the first is opened', async (stage) => {
  const [hookmitt, line] = [await stage.hookmitt(), await stage.line()];
  const ui = await stage.open(hookmitt, { proxy: line.url });
  ui.watch.forgive(/ERR_|Failed to load resource/);
  await says(ui.page.locator('body'), 'Waiting for the first event');
  await line.cut();
  await says(ui.page.locator('body'), 'The connection to hookmitt is lost');
  for (const path of ['/first', '/second', '/third']) await hookmitt.post('shop', { path });
  await line.mend();
  await ui.hasRows(3);
  await says(ui.selected, '/shop/first');
});

/** The step with this title. */
const step = (ui, title) => ui.page.getByRole('listitem', { name: title });

story('a provider, its secret and a target are set in the first run; the next event is valid and delivered', async (stage) => {
  const [hookmitt, server] = [await stage.hookmitt(), await stage.server()];
  const ui = await stage.open(hookmitt);
  await ui.button('Stripe', step(ui, 'Provider')).click();
  await says(step(ui, 'Signing secret'), 'whsec_');
  await step(ui, 'Signing secret').getByLabel('Signing secret').fill(SECRETS.stripe);
  await ui.button('Save', step(ui, 'Signing secret')).click();
  await eventually('the secret is kept', async () => (await hookmitt.api.ask('GET', '/api/secrets')).items.length === 1);
  await step(ui, 'Target').getByRole('textbox', { name: 'Target' }).fill(`127.0.0.1:${server.port}/webhooks/stripe`);
  await says(step(ui, 'Target'), `port ${server.port} answers`);
  await ui.button('Save', step(ui, 'Target')).click();
  await eventually('the target is kept', async () => (await hookmitt.api.ask('GET', '/api/targets')).items.length === 1);

  const { id } = await hookmitt.post('stripe', await signed('stripe', { body: stripe.charge(Date.now()) }));

  await says(ui.selected, 'charge.succeeded', '200');
  await says(ui.panel, /^Valid/);
  const [seen] = await server.waitFor(1);
  assert.equal(seen.line, 'POST /webhooks/stripe HTTP/1.1');
  assert.equal(seen.header('x-hookmitt-event-id'), id);
});

story('the test event of the first run is signed with the secret that was set', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const ui = await stage.open(hookmitt);
  await ui.button('Stripe', step(ui, 'Provider')).click();
  await step(ui, 'Signing secret').getByLabel('Signing secret').fill(SECRETS.stripe);
  await ui.button('Save', step(ui, 'Signing secret')).click();
  await sees(step(ui, 'Signing secret').getByRole('img', { name: 'Done' }));
  await ui.button(/^Send test event/).click();
  await sees(ui.selected);
  await says(ui.panel, /^Valid/);
});

story('the test event of a provider that signs nothing goes out unsigned, and says so', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.ask('POST', '/api/sources', { slug: 'datadog', provider: 'datadog' });
  const ui = await stage.open(hookmitt);
  await ui.button(/^Send test event/).click();
  await says(ui.page.locator('body'), 'Test event sent unsigned: Datadog signs nothing');
  await says(ui.panel, /^Unsigned/);
});

story('the first run refuses a target that is hookmitt itself, beside its field', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const ui = await stage.open(hookmitt);
  ui.watch.forgive(/Failed to load resource.*400/);
  const target = step(ui, 'Target').getByRole('textbox', { name: 'Target' });
  await target.fill(hookmitt.capture);
  await ui.button('Save', step(ui, 'Target')).click();
  await eventually('the field is marked', async () => (await target.getAttribute('aria-invalid')) === 'true');
  assert.equal((await hookmitt.api.ask('GET', '/api/targets')).items.length, 0);
});

story('curl from the first run’s line arrives', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const ui = await stage.open(hookmitt, { clipboard: true });
  await ui.button('Copy the curl line').click();
  const command = await eventually('the clipboard holds the line', async () => {
    const text = await ui.clipboard();
    return text.startsWith(`curl ${hookmitt.capture}`) && text;
  });
  await run('sh', ['-c', command], { timeout: LONG });
  await sees(ui.rows.first());
  await says(ui.selected, /stripe|demo|POST/);
});

story('a public URL is had at a click: by an installed program, else by a channel if the user agrees', async (stage) => {
  const programs = new Programs();
  stage.leaves(() => programs.remove());
  const hookmitt = await stage.hookmitt({ env: programs.env });
  const ui = await stage.open(hookmitt);
  ui.watch.forgive(/Failed to load resource.*409/); // it says that only a channel is left
  await ui.button('Get a public URL').click();
  const ask = ui.page.getByRole('group', { name: 'Use a channel?' });
  await says(ask, /signatures can.t verify/, 'Use a channel');
  await hasNoBarriers(ui.page, 'the question about a channel');
  await ui.button('Cancel', ask).click();
  programs.install();
  await ui.button('Get a public URL').click();
  await says(ui.page.getByRole('list', { name: 'Public URLs' }), /https:\/\/run-.*trycloudflare\.com/);
  await hasNoBarriers(ui.page, 'a first run with a public URL');
});
