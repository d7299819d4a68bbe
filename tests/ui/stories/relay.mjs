// A real relay, a real app, and the page between them.
import assert from 'node:assert/strict';

import { gone, hasNoBarriers, says, sees } from '../support/see.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

/** The part of the page that shows one tunnel. */
const paneOf = (ui) => ui.page.getByRole('region', { name: 'Tunnel', exact: true });
const strip = (ui) => ui.page.getByRole('list', { name: 'Connection' });

/** Starts a relay, and an app with a source that is connected to it as `acme-dev`. */
async function connected(stage, options, flags) {
  const [hookmitt, relay] = [await stage.hookmitt(), await stage.relay(flags)];
  await hookmitt.api.source('shop');
  const { id } = await hookmitt.api.ask('POST', '/api/tunnels', { relay: relay.url, token: await relay.token(), name: 'acme-dev' });
  await eventually('it is connected', async () => (await hookmitt.api.ask('GET', `/api/tunnels/${id}`)).state === 'connected');
  await eventually('the relay knows the source', async () => (await relay.post('acme-dev', 'shop', { path: '/first', body: '{}' })).status < 300);
  const ui = await stage.open(hookmitt, options);
  await sees(ui.row('/first').first());
  return { hookmitt, relay, ui, id, pane: paneOf(ui) };
}

story('with a real relay: a tunnel is added, a wrong token is told at its field, and an event comes through', async (stage) => {
  const [hookmitt, relay] = [await stage.hookmitt(), await stage.relay()];
  await hookmitt.api.source('shop');
  const ui = await stage.open(hookmitt);
  ui.watch.forgive(/Failed to load resource.*400/);
  await ui.go('#/tunnels/add');
  const dialog = ui.page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Relay' }).fill(relay.url);
  await dialog.getByRole('textbox', { name: 'Name, optional' }).fill('acme-dev');
  const token = dialog.getByLabel('Token', { exact: true });
  await token.fill('hmr_nobody-gave-this-out');
  await ui.button('Add', dialog).click();
  await eventually('the token is marked', async () => (await token.getAttribute('aria-invalid')) === 'true');
  await says(dialog, /token is missing, unknown or revoked/);

  await token.fill(await relay.token());
  await ui.button('Add', dialog).click();
  await gone(dialog);
  const pane = paneOf(ui);
  await says(pane, 'acme-dev', `${relay.url}/acme-dev/`, /Connected since/, '0 in the mailbox, sealed', 'None so far');
  await says(strip(ui), new URL(relay.url).host, /\d ms/);
  await eventually('the relay knows the source', async () => (await relay.post('acme-dev', 'shop', { path: '/pay', body: '{"a":1}' })).status < 300);
  assert.equal((await relay.post('acme-dev', 'nowhere', { body: '{}' })).status, 404);
  await ui.go('#/events');
  await ui.select('/pay');
  await says(ui.panel, 'shop, via tunnel');
});

story('with a real relay: what came while the app was closed is caught up, and the list and the tunnel say so', async (stage) => {
  const { hookmitt, relay, ui, pane } = await connected(stage);
  ui.watch.forgive(/ERR_|Failed to load resource/);
  await hookmitt.stop('SIGKILL');
  for (let at = 0; at < 5; at += 1) assert.ok((await relay.post('acme-dev', 'shop', { path: `/night/${at}`, body: '{}' })).status < 300);
  await hookmitt.startAgain();
  await sees(ui.row('/night/4'));
  const line = ui.list.locator('.gap');
  await says(line, /^Back at \d\d:\d\d\. Offline .*: 5 caught up, 0 lost/);
  const order = await ui.list.evaluate((list) => [...list.querySelectorAll('[role=option], .gap')]
    .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top).map((one) => (one.classList.contains('gap') ? 'gap' : /\/(night|first)/.exec(one.innerText)?.[1])));
  assert.equal(order.indexOf('gap'), 0, `the line stands above what was caught up: ${order}`);
  await line.getByText('Details').click();
  await says(pane.getByRole('row').filter({ hasText: 'App closed' }), '5', '0');
  await says(pane.getByRole('status'), /Connected since .* while the app was closed: 5 events caught up, 0 lost/);
  await pane.getByRole('link', { name: /^Events of/ }).click();
  await sees(ui.row('/night/0'));
  await sees(ui.row('/night/4'));
});

story('with a real relay: what a proxy before it added is shown beside the request, and only then', async (stage) => {
  const { relay, ui } = await connected(stage, {}, ['--trusted-proxy', '127.0.0.1']);
  await relay.post('acme-dev', 'shop', { path: '/proxied', headers: [['X-Own', 'mine'], ['X-Forwarded-For', '203.0.113.9']], body: '{}' });
  await sees(ui.row('/proxied').first()); // rows move when one comes in, and a click would hit another
  await ui.select('/first');
  const panel = await ui.tab('Headers');
  await says(panel, /in original order/);
  await gone(panel.getByText('Added by proxies'));
  await ui.select('/proxied');
  const added = (await ui.tab('Headers')).getByRole('region', { name: 'Added by proxies' });
  await says(added, 'Kept separately', 'X-Forwarded-For', '203.0.113.9');
  const own = ui.panel.getByRole('table', { name: 'Headers', exact: true });
  await says(own, 'X-Own');
  assert.ok(!(await own.innerText()).includes('X-Forwarded-For'), 'it is no line of the request');
  await ui.panel.getByRole('textbox', { name: 'Filter headers' }).fill('203.0.113');
  await sees(added);
  await gone(ui.panel.getByText('No header matches'));
});

story('with a real relay: while it is away the page says so, and that it is back', async (stage) => {
  const { relay, ui, pane, id } = await connected(stage);
  await ui.go(`#/tunnels/${id}`);
  await says(pane.getByRole('status'), /^Connected since/);
  await relay.stop('SIGKILL');
  await says(pane.getByRole('status'), /^(Offline since|Connecting)/);
  await says(strip(ui), /offline|connecting/);
  await relay.startAgain();
  await says(pane.getByRole('status'), /^Connected since/);
});

story('with a real relay: an invitation is shown once, and another app that joins gets each event too', async (stage) => {
  const { hookmitt, relay, ui, id, pane } = await connected(stage);
  await ui.go(`#/tunnels/${id}`);
  await ui.button('More', pane).click();
  await ui.page.getByRole('menuitem', { name: 'Invite another device' }).click();
  const dialog = ui.page.getByRole('dialog');
  await ui.button('Create an invitation', dialog).click();
  const invite = (await (await sees(dialog.getByLabel('Invitation', { exact: true }))).innerText()).trim();
  await ui.button('Done', dialog).click();
  await gone(dialog);
  assert.ok(!(await ui.page.content()).includes(invite), 'it is not shown again');

  const other = await stage.hookmitt();
  await other.api.source('shop');
  const second = await stage.open(other);
  await second.go('#/tunnels/add');
  const join = second.page.getByRole('dialog');
  await second.choose('Kind', 'Invitation');
  await join.getByRole('textbox', { name: 'Invitation' }).fill(invite);
  await second.button('Join', join).click();
  await says(paneOf(second), /Connected since/);
  const { id: event } = await relay.post('acme-dev', 'shop', { path: '/both', body: '{}' });
  for (const one of [hookmitt, other]) await eventually('both have it', async () => (await one.api.call('GET', `/api/events/${event}`)).status === 200);
});

story('with a real relay: a device that joins is listed while the page is open, and its owner revokes it there', async (stage) => {
  const { hookmitt, relay, ui, id, pane } = await connected(stage);
  await ui.go(`#/tunnels/${id}`);
  const devices = pane.getByRole('list', { name: 'Devices' });
  await says(devices, /opened the tunnel, this device/);
  assert.equal(await ui.button('Revoke', devices).count(), 0, 'nobody turns himself out');

  const { invite } = await hookmitt.api.ask('POST', `/api/tunnels/${id}/invite`, {});
  const other = await stage.hookmitt();
  await other.api.source('shop');
  const theirs = await other.api.ask('POST', '/api/tunnels', { invite });
  await ui.button('Revoke', devices).click();
  const dialog = ui.page.getByRole('dialog');
  await hasNoBarriers(ui.page, 'the question before a device is revoked');
  await ui.button('Revoke the device', dialog).click();
  await gone(dialog);
  await eventually('one is left', async () => (await devices.getByRole('listitem').count()) === 1);
  await eventually('the other is told', async () => (await other.api.ask('GET', `/api/tunnels/${theirs.id}`)).state === 'refused');
  const { id: event } = await relay.post('acme-dev', 'shop', { path: '/after', body: '{}' });
  await eventually('its owner has it', async () => (await hookmitt.api.call('GET', `/api/events/${event}`)).status === 200);
  assert.equal((await other.api.call('GET', `/api/events/${event}`)).status, 404);
});

story('with a real relay: a tunnel is removed after a question that says what is lost', async (stage) => {
  const { ui, id, pane, relay } = await connected(stage);
  await ui.go(`#/tunnels/${id}`);
  await ui.button('More', pane).click();
  await ui.page.getByRole('menuitem', { name: 'Remove this tunnel' }).click();
  const dialog = ui.page.getByRole('dialog');
  await says(dialog, 'Remove acme-dev?', 'Events in the inbox stay');
  await ui.button('Remove the tunnel', dialog).click();
  await sees(ui.page.getByText('No tunnel yet'));
  await says(strip(ui), 'Relay not set up');
  await eventually('the relay takes no more', async () => (await relay.post('acme-dev', 'shop', { body: '{}' })).status === 404);
});

story('with a real relay: it is told of the chosen sources alone, and the page says which', async (stage) => {
  const { hookmitt, relay, ui, id, pane } = await connected(stage);
  await hookmitt.api.source('private');
  await ui.go(`#/tunnels/${id}`);
  await says(pane, 'None chosen, so the relay serves every source');
  await ui.button('Choose', pane).click();
  const dialog = ui.page.getByRole('dialog');
  await dialog.getByText('Only these').click();
  assert.ok(await ui.button('Save', dialog).isDisabled(), 'nothing chosen is not all');
  await dialog.getByRole('checkbox', { name: 'shop' }).click();
  await ui.button('Save', dialog).click();
  await gone(dialog);
  await says(pane, 'The relay serves only shop.');
  await eventually('the other one is unknown there', async () => (await relay.post('acme-dev', 'private', { body: '{}' })).status === 404);
  assert.equal((await relay.post('acme-dev', 'shop', { path: '/still', body: '{}' })).status < 300, true);
});
