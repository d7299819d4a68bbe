// Events go to the developer's server: replayed, waiting, dead letters, resumed.
import assert from 'node:assert/strict';

import { stripe } from '../support/samples.mjs';
import { hasNoBarriers, says } from '../support/see.mjs';
import { SECRETS, signed } from '../support/senders.mjs';
import { story } from '../support/stage.mjs';

/** Makes a Stripe source that delivers to a server. */
async function shop(stage, settings = {}) {
  const [hookmitt, server] = [await stage.hookmitt(), await stage.server()];
  await hookmitt.api.source('shop', { provider: 'stripe' });
  await hookmitt.api.secret('shop', SECRETS.stripe);
  await hookmitt.api.target('shop', `${server.url}/hooks`, { retry_base_ms: 1, retry_cap_ms: 1, ...settings });
  return { hookmitt, server, send: async (body) => hookmitt.post('shop', await signed('stripe', { body })) };
}

story('a replay reaches the local server with the same bytes', async (stage) => {
  const { hookmitt, server, send } = await shop(stage);
  const ui = await stage.open(hookmitt);
  const body = stripe.invoicePaid(Date.now());
  await send(body);
  await says(ui.row('invoice.paid'), '200');

  await ui.select('invoice.paid');
  await ui.button(/^Replay/, ui.detail).click();

  const [first, second] = await server.waitFor(2);
  assert.deepEqual(second.body, first.body);
  assert.equal(second.body.toString(), body);
  assert.equal(second.header('stripe-signature'), first.header('stripe-signature'));
  assert.equal(second.header('x-hookmitt-replay'), 'true');
  const panel = await ui.tab(/^Deliveries/);
  await says(panel, /replay/i);
});

story('a server that is down makes its events wait, and they drain in order when it starts', async (stage) => {
  const { hookmitt, server, send } = await shop(stage);
  const ui = await stage.open(hookmitt);
  await server.stop();
  const now = Date.now();
  await send(stripe.charge(now));
  await send(stripe.intent(now));
  await send(stripe.refund(now));

  await says(ui.row('charge.refunded'), 'Waiting');
  await says(ui.row('payment_intent.succeeded'), 'Waiting');
  await ui.select('charge.succeeded');
  await says(ui.panel, 'connection refused', 'No attempt is used up', 'sending starts when the port answers');

  await server.startAgain();
  const seen = await server.waitFor(3);
  assert.deepEqual(seen.map((one) => JSON.parse(one.body).type), ['charge.succeeded', 'payment_intent.succeeded', 'charge.refunded']);
  for (const name of ['charge.succeeded', 'payment_intent.succeeded', 'charge.refunded']) await says(ui.row(name), '200');
  await says(ui.panel, 'completed');
});

story('a server that dies is seen to, though nothing is sent there', async (stage) => {
  const { hookmitt, server } = await shop(stage);
  await hookmitt.api.target('shop', 'https://far.example.com/hooks');
  const ui = await stage.open(hookmitt);
  const strip = ui.page.getByRole('list', { name: 'Connection' });
  const { host } = new URL(server.url);
  await says(strip, `${host} up`, 'far.example.com not tried yet');
  await server.stop();
  await says(strip, `${host} nobody answers`);
  await ui.go('#/settings/sources/shop');
  const targets = ui.page.getByRole('table').filter({ hasText: 'Attempts' });
  await says(targets, 'Nobody answers', /Nobody answers since \d\d:\d\d: connection refused\. No attempt is used up/, 'Not tried yet');
  await server.startAgain();
  await says(strip, `${host} up`);
  await says(targets, 'Up');
  assert.equal(server.seen.length, 0, 'looking is no request');
});

story('“Try now” asks a server that is down again at once', async (stage) => {
  const { hookmitt, server, send } = await shop(stage);
  const ui = await stage.open(hookmitt);
  await server.stop();
  await send(stripe.charge(Date.now()));
  await says(ui.row('charge.succeeded'), 'Waiting');
  await ui.select('charge.succeeded');
  await server.startAgain();
  await ui.button('Try now', ui.detail).click().catch(() => {}); // it may have drained by itself just before
  await server.waitFor(1);
  await says(ui.row('charge.succeeded'), '200');
});

story('a dead letter is tried again and arrives', async (stage) => {
  const { hookmitt, server, send } = await shop(stage, { attempts: 2 });
  const ui = await stage.open(hookmitt);
  server.will({ status: 500, body: '{"error":"no stock"}' }, { status: 500, body: '{"error":"no stock"}' });
  await send(stripe.charge(Date.now()));
  await says(ui.row('charge.succeeded'), 'Dead letter');
  await ui.select('charge.succeeded');
  await says(ui.panel, 'Gave up after 2 attempts', '500', 'no stock');

  await ui.button(/^Retry/, ui.detail).first().click();

  await server.waitFor(3);
  await says(ui.row('charge.succeeded'), '200');
  await says(ui.panel, 'completed');
});

story('a skipped repeat is forwarded on request', async (stage) => {
  const { hookmitt, server, send } = await shop(stage);
  const ui = await stage.open(hookmitt);
  const now = Date.now();
  await send(stripe.invoicePaid(now));
  await server.waitFor(1);
  await send(stripe.invoicePaid(now, { pending: 1 }));
  await says(ui.row('invoice.paid'), '×2');
  await ui.row('invoice.paid').getByTitle('Show the repeats').click();
  await ui.row('Duplicate').click();
  await says(ui.row('Duplicate'), 'Skipped');
  assert.equal(server.seen.length, 1);

  await ui.button(/^Forward/, ui.detail).first().click();

  const [, second] = await server.waitFor(2);
  assert.equal(JSON.parse(second.body).pending_webhooks, 1);
});

story('each attempt shows what was answered', async (stage) => {
  const { hookmitt, server, send } = await shop(stage);
  const ui = await stage.open(hookmitt);
  server.will({ status: 503, body: 'starting' }, { status: 500, body: '{"error":"connect ECONNREFUSED 127.0.0.1:5432"}' });
  await send(stripe.charge(Date.now()));
  await says(ui.row('charge.succeeded'), '200');
  await ui.select('charge.succeeded');
  await says(ui.panel, 'completed on attempt 3 of 5', 'Attempt 1', '503', 'Attempt 2', '500', 'connect ECONNREFUSED 127.0.0.1:5432', 'Attempt 3');
});

story('a genuine event that the app rejects says so, and shows the fix for a framework', async (stage) => {
  const { hookmitt, server, send } = await shop(stage);
  server.will({ status: 400, body: 'No signatures found matching the expected signature for payload' });
  const ui = await stage.open(hookmitt);
  await send(stripe.invoicePaid(Date.now()));
  await ui.select('invoice.paid');
  await says(ui.panel, 'Valid', 'This event is genuine. Your app rejects it', 'its framework changes the body before the check');
  await ui.button('Show the fix', ui.panel).click();
  await says(ui.panel, 'pass the raw body on', 'Express', 'express.raw');
  await hasNoBarriers(ui.page, 'an event that the app rejects');
  await ui.button('Hide the fix', ui.panel).click();
});

story('where the event was captured stands what its sender was answered, and when', async (stage) => {
  const { hookmitt, server, send } = await shop(stage);
  const ui = await stage.open(hookmitt);
  await send(stripe.charge(Date.now()));
  await server.waitFor(1);
  await ui.select('charge.succeeded');
  await says(ui.panel, /Captured answered 200 (< 1|\d+) ms/, /Received .* answered 200 after (< 1|\d+) ms/);

  // The local server answers here, so what it says is known once it has said it: the page takes it in by itself.
  await hookmitt.api.source('command', { answer: { respond: 'app' } });
  await hookmitt.api.target('command', server.url);
  server.will({ status: 422, after: 30 });
  await hookmitt.post('command', { path: '/weather', body: 'text=Oslo' });
  await ui.select('POST /command/weather');
  await says(ui.panel, /Captured answered 422 \d+ ms/);
});
