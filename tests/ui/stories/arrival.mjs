// Events come in: they appear by themselves, with their verdict.
import assert from 'node:assert/strict';

import { githubEvents, stripe } from '../support/samples.mjs';
import { OTHER_SECRETS, SECRETS, signed } from '../support/senders.mjs';
import { counts, gone, says, sees } from '../support/see.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

/** The providers whose signature is made, or accepted, by their own SDK. */
const SIGNERS = {
  stripe: () => ({ body: stripe.invoicePaid(Date.now()) }),
  github: () => githubEvents.pullRequest(),
  shopify: () => ({ body: '{"id":1,"name":"#1042"}' }),
  slack: () => ({ body: '{"type":"event_callback","event_id":"Ev1","event":{"type":"app_mention","channel":"#deploys","text":"hello"}}' }),
  svix: () => ({ body: '{"type":"order.paid","data":{"id":"ord_1"}}' }),
  clerk: () => ({ body: '{"type":"user.created","data":{"id":"user_1"},"object":"event"}' }),
};
const TYPES = { stripe: 'invoice.paid', github: 'pull_request opened', shopify: 'orders/create', slack: 'app_mention', svix: 'order.paid', clerk: 'user.created' };

for (const [provider, make] of Object.entries(SIGNERS)) {
  story(`an event signed by the SDK of ${provider} appears without a reload and is valid`, async (stage) => {
    const hookmitt = await stage.hookmitt();
    await hookmitt.api.source('shop', { provider });
    await hookmitt.api.secret('shop', SECRETS[provider], 'Test mode');
    await hookmitt.post('first', { body: '{"hello":"mitt"}' });
    const ui = await stage.open(hookmitt);
    await ui.hasRows(1);

    await hookmitt.post('shop', await signed(provider, make()));

    const row = ui.row(TYPES[provider]);
    await sees(row);
    await sees(row.and(ui.list.getByRole('option', { name: /Valid signature/ })));
    assert.doesNotMatch(await row.innerText(), /Valid/, 'a valid row is quiet: the mark alone');
    await ui.select(TYPES[provider]);
    await says(ui.panel, 'Valid', 'Test mode');
  });
}

story('an event signed with another secret is invalid, and the sentence says why', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('shop', { provider: 'stripe' });
  await hookmitt.api.secret('shop', SECRETS.stripe);
  const ui = await stage.open(hookmitt);
  await hookmitt.post('shop', await signed('stripe', { body: stripe.charge(Date.now()), secret: OTHER_SECRETS.stripe }));

  await says(ui.row('charge.succeeded'), 'Invalid');
  await ui.select('charge.succeeded');
  await says(ui.panel, /^Invalid: .*secret/);
  await sees(ui.page.getByRole('link', { name: /shop.*Newest event invalid/ }));

  await hookmitt.post('shop', await signed('stripe', { body: stripe.charge(Date.now(), { id: 'next' }) }));
  await says(ui.rows.first(), 'charge.succeeded');
  await gone(ui.page.getByLabel('Newest event invalid'));
});

story('a body that was changed on its way is invalid', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('shop', { provider: 'stripe' });
  await hookmitt.api.secret('shop', SECRETS.stripe);
  const ui = await stage.open(hookmitt);
  const request = await signed('stripe', { body: stripe.charge(Date.now()) });
  const parsed = JSON.stringify(JSON.parse(request.body));
  await hookmitt.post('shop', { ...request, body: parsed });

  await ui.select('charge.succeeded');
  await says(ui.panel, /^Invalid: .*parsed and written again/);
});

story('an event of a source without a secret says so, and becomes valid when the secret is added', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('shop', { provider: 'stripe' });
  const ui = await stage.open(hookmitt);
  await hookmitt.post('shop', await signed('stripe', { body: stripe.charge(Date.now()) }));
  await says(ui.row('charge.succeeded'), 'No secret');
  await ui.select('charge.succeeded');
  await says(ui.panel, 'No secret for shop yet, so nothing was checked.');

  await hookmitt.api.secret('shop', SECRETS.stripe, 'Test mode');

  await says(ui.panel, /^Valid/, 'Test mode');
});

story('an unsigned event says that nothing proves who sent it', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const ui = await stage.open(hookmitt);
  await hookmitt.post('intake', { path: '/lead', headers: [['Content-Type', 'application/json']], body: '{"name":"Grace"}' });

  const row = ui.row('POST /intake/lead');
  await says(row, 'Unsigned');
  await ui.select('POST /intake/lead');
  await says(ui.panel, 'Unsigned', 'Nothing proves who sent it.');
});

story('a repeat is marked ×2, and one with other bytes as a conflict', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('shop', { provider: 'stripe' });
  await hookmitt.api.secret('shop', SECRETS.stripe);
  const ui = await stage.open(hookmitt);
  const now = Date.now();
  const send = async (options) => hookmitt.post('shop', await signed('stripe', { body: stripe.invoicePaid(now, options) }));

  await send();
  await sees(ui.row('invoice.paid'));
  await send();
  await says(ui.row('invoice.paid'), '×2');
  await counts(ui.list.getByRole('option', { name: /not all the same/ }), 0);

  await send({ pending: 1 });
  await says(ui.row('invoice.paid'), '×3');
  await sees(ui.list.getByRole('option', { name: /Bytes of a repeat differ.*received 3 times, not all the same/ }));

  await ui.row('invoice.paid').click();
  await says(ui.panel, 'Received 3 times', '1 conflict', 'identical', '1 value differs', '/pending_webhooks');
});
