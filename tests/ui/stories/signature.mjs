// Why a signature fails, and what can be done about it.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';

import { clerkEvents, stripe } from '../support/samples.mjs';
import { hasNoBarriers, says, sees, textOf } from '../support/see.mjs';
import { OTHER_SECRETS, SECRETS, signed } from '../support/senders.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

/** Makes a Stripe source with a secret, and a server as its target. */
async function shop(stage) {
  const [hookmitt, server] = [await stage.hookmitt(), await stage.server()];
  await hookmitt.api.source('shop', { provider: 'stripe' });
  await hookmitt.api.secret('shop', SECRETS.stripe, 'Test mode');
  await hookmitt.api.target('shop', `${server.url}/hooks`);
  return { hookmitt, server };
}

/** Whether the request that a server got has a correct Stripe signature. */
function fitsStripe(seen) {
  const [, time, mark] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(seen.header('stripe-signature'));
  return createHmac('sha256', SECRETS.stripe).update(`${time}.`).update(seen.body).digest('hex') === mark;
}

for (const theme of ['dark', 'light']) {
  story(`the tab “Signature” tells what was tried and shows the signature, without barriers: ${theme}`, async (stage) => {
    const hookmitt = await stage.hookmitt();
    await hookmitt.api.source('users', { provider: 'clerk' });
    await hookmitt.api.secret('users', SECRETS.clerk, 'Production');
    const request = await signed('clerk', { body: clerkEvents.created(Date.now()) });
    await hookmitt.post('users', { ...request, body: JSON.stringify(JSON.parse(request.body), null, 2) });
    const ui = await stage.open(hookmitt, { theme });
    await ui.select('user.created');
    await says(ui.panel, /^Invalid: .*parsed and written again/, 'Fix');
    await ui.button('All causes', ui.panel).click();
    await says(ui.panel, 'Causes tried', 'Body re-serialised Proven', 'more, none fits', 'Scheme', 'For these bytes');
    await says(ui.panel, 'What changed in the body', 'bytes of whitespace added, no value changed', 'Signed by Clerk, rebuilt: ', 'Received: ');
    await says(ui.panel, 'Fix: pass the raw body on');
    await sees(ui.button('Verify again', ui.panel));
    await sees(ui.button('Secret: Production', ui.panel));
    await hasNoBarriers(ui.page, 'the tab Signature');
  });
}

story('the comparison goes from change to change and shows all; the framework that was chosen is remembered', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('users', { provider: 'clerk' });
  await hookmitt.api.secret('users', SECRETS.clerk);
  const make = async (at) => {
    const request = await signed('clerk', { body: clerkEvents.created(at) });
    return hookmitt.post('users', { ...request, body: JSON.stringify(JSON.parse(request.body), null, 2) });
  };
  const { id } = await make(Date.now());
  const ui = await stage.open(hookmitt, { size: [900, 700] });
  await ui.go(`#/events/${id}/signature`);
  const received = ui.panel.getByRole('region', { name: /^Received/ });
  await says(received, '{⏎', '··"data":·{⏎');
  const lines = () => received.locator('[data-row]').count();
  assert.equal(await lines(), 8);
  await ui.button('Next change', ui.panel).click();
  await ui.button('Show all', ui.panel).click();
  await eventually('all lines are there', async () => (await lines()) > 20);
  await ui.button('Show fewer', ui.panel).click();
  await eventually('they are folded again', async () => (await lines()) === 8);

  await ui.panel.getByRole('tab', { name: 'Next.js' }).click();
  await says(ui.panel, /arrayBuffer|text\(\)|req/);
  const { id: other } = await make(Date.now() + 1);
  await ui.go(`#/events/${other}/signature`);
  await eventually('it is chosen again', async () => (await ui.panel.getByRole('tab', { name: 'Next.js' }).getAttribute('aria-selected')) === 'true');
});

story('each verdict has its sentence in the tab “Signature”', async (stage) => {
  const { hookmitt } = await shop(stage);
  const ui = await stage.open(hookmitt);
  await hookmitt.post('shop', await signed('stripe', { body: stripe.charge(Date.now()) }));
  await ui.select('charge.succeeded');
  await ui.tab('Signature');
  await says(ui.panel, /^Valid Signed by Stripe with secret Test mode/);
  await hookmitt.post('shop', { body: stripe.refund(Date.now()), headers: [['Content-Type', 'application/json']] });
  await ui.select('charge.refunded');
  await says(ui.panel, /^Unsigned: no signature header\. Nothing proves who sent it\./);
});

story('a secret that was missing is added in the tab “Signature”, and the verdict changes in place', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('shop', { provider: 'stripe' });
  const ui = await stage.open(hookmitt);
  await hookmitt.post('shop', await signed('stripe', { body: stripe.charge(Date.now()) }));
  await ui.select('charge.succeeded');
  const panel = await ui.tab('Signature');
  await says(panel, /^No secret for shop yet, so nothing was checked\./);
  await panel.getByLabel('Signing secret').fill(SECRETS.stripe);
  await ui.button('Save', panel).click();
  await says(panel, /^Valid Signed by Stripe/);
});

story('an event that no secret fits says so once, and a secret that is added mends it in place', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('shop', { provider: 'stripe' });
  await hookmitt.api.secret('shop', OTHER_SECRETS.stripe, 'Live mode');
  const ui = await stage.open(hookmitt);
  await hookmitt.post('shop', await signed('stripe', { body: stripe.charge(Date.now()) }));
  await ui.select('charge.succeeded');
  await says(ui.panel, /^Invalid: no known secret fits\./, 'Tried 1 secret and every known variation.', 'Copy this endpoint');
  const told = await textOf(ui.panel);
  assert.equal(told.match(/known secret/g).length, 1, told);
  const replay = ui.button(/^Replay re-signed/, ui.detail);
  assert.equal(await replay.getAttribute('aria-disabled'), 'true', 'there is no target');
  await replay.hover();
  await sees(ui.page.getByText(/^shop has no target/));
  await ui.page.mouse.move(0, 0);

  const panel = await ui.tab('Signature');
  await says(panel, 'All ruled out');
  await ui.tab('Overview');
  await ui.button('Add a secret', ui.panel).click();
  await ui.panel.getByLabel('Signing secret').fill(SECRETS.stripe);
  await ui.button('Save', ui.panel).click();
  await says(ui.panel, /^Valid Signed by Stripe/);
});

story('what is signed with the public test secret is said to be', async (stage) => {
  const { hookmitt } = await shop(stage);
  const ui = await stage.open(hookmitt);
  await hookmitt.post('shop', await signed('stripe', { body: stripe.charge(Date.now()), secret: 'whsec_hookmitt_test_secret' }));
  await ui.select('charge.succeeded');
  await says(ui.panel, /^Invalid: signed with the public test secret\./, 'proves nothing', 'add the test secret');
});

story('what is invalid is replayed with a signature that fits, by ⇧R too', async (stage) => {
  const { hookmitt, server } = await shop(stage);
  const ui = await stage.open(hookmitt);
  await hookmitt.post('shop', await signed('stripe', { body: stripe.charge(Date.now()), secret: OTHER_SECRETS.stripe }));
  await ui.select('charge.succeeded');
  const [first] = await server.waitFor(1);
  assert.ok(!fitsStripe(first));
  await ui.button(/^Replay re-signed/, ui.detail).click();
  const [, second] = await server.waitFor(2);
  assert.deepEqual(second.body, first.body);
  assert.ok(fitsStripe(second), 'the new signature fits');
  await ui.page.keyboard.press('Shift+R');
  const [, , third] = await server.waitFor(3);
  assert.ok(fitsStripe(third), 'and so does that of the key');
});

story('a list of nothing but invalid events tells why in each row', async (stage) => {
  const { hookmitt } = await shop(stage);
  const ui = await stage.open(hookmitt);
  await hookmitt.post('shop', await signed('stripe', { body: stripe.charge(Date.now()), secret: OTHER_SECRETS.stripe }));
  await says(ui.row('charge.succeeded'), 'Invalid');
  await ui.go('#/events?view=invalid');
  await eventually('the word gives way to the cause', async () => !/Invalid/.test(await ui.row('charge.succeeded').innerText()));
  await says(ui.row('charge.succeeded'), 'No known secret fits');
});
