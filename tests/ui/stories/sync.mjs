// Backup sync: what never came is fetched from the provider's own API, as a page shows it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';

import { gap, pretend, tunnel } from '../support/pretend.mjs';
import { KEY, Provider, invoice, synced } from '../support/provider.mjs';
import { counts, focused, gone, hasNoBarriers, says, sees } from '../support/see.mjs';
import { SECRETS, signed } from '../support/senders.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

/** Starts a hookmitt with a source that asks a provider on this machine, and opens the screen of sync. */
async function syncing(stage, { events = [], key = KEY, came = 0, provider: how, open = {}, settings = {} } = {}) {
  const [hookmitt, provider] = [await stage.hookmitt(), await Provider.start(events, how)];
  stage.leaves(() => provider.stop());
  await provider.source(hookmitt.api, 'stripe', { key, ...settings });
  await hookmitt.api.secret('stripe', SECRETS.stripe);
  for (const event of events.slice(0, came)) await hookmitt.post('stripe', await signed('stripe', { body: JSON.stringify(event) }));
  const ui = await stage.open(hookmitt, open);
  await ui.go('#/sync/stripe');
  const pane = ui.page.getByRole('region', { name: 'Source', exact: true });
  await sees(pane.getByRole('heading', { name: 'stripe' }));
  return { hookmitt, provider, ui, pane, state: pane.getByRole('status').first(), list: ui.page.getByRole('region', { name: 'Sync', exact: true }) };
}

const invoices = (many) => Array.from({ length: many }, (_, at) => invoice(at, 600 + at * 60));

/** Returns what is wider than the room that it has. */
const tooWide = (pane) => pane.evaluate((element) =>
  [...element.querySelectorAll('table, form, .found, .grid')].filter((one) => one.scrollWidth > one.parentElement.clientWidth + 1).map((one) => one.outerHTML.slice(0, 80)));

/** Announces a body that is too large, and waits until it is refused. */
async function tooLarge(capture, source) {
  const { hostname, port } = new URL(capture);
  const socket = connect(Number(port), hostname);
  socket.write(`POST /${source} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: 30000000\r\n\r\n`);
  await once(socket, 'data');
  socket.destroy();
}

/** A promise, and what settles it. */
function held() {
  let go;
  return [new Promise((resolve) => { go = resolve; }), (value) => go(value)];
}

story('without a source, sync says what would be here and leads to adding one', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const ui = await stage.open(hookmitt);
  await ui.page.keyboard.press('g');
  await ui.page.keyboard.press('s');
  await sees(ui.page.getByText('Nothing to sync yet'));
  await hasNoBarriers(ui.page, 'sync without a source');
  await hookmitt.api.source('intake');
  await hookmitt.api.source('linear', { provider: 'linear' });
  await ui.page.getByText('2 without an API to ask').waitFor();
  const pane = ui.page.getByRole('region', { name: 'Source', exact: true });
  await says(pane, 'No provider yet', 'intake has no provider yet', 'Choose the provider');
  await ui.page.keyboard.press('j');
  await says(pane, 'No API to ask', 'describe it below');
  await ui.page.keyboard.press('k');
  await ui.button('Choose the provider', pane).click();
  await eventually('the settings of the source are open', () => ui.page.url().endsWith('#/settings/sources/intake'));
  await says(ui.page.getByRole('main'), 'Backup sync', 'Nobody knows whose API to ask');
});

story('an API key is added, checked, replaced and removed, and is never shown again', async (stage) => {
  const { hookmitt, ui, pane, state } = await syncing(stage, { events: invoices(1), key: null });
  await says(state, 'No API key. With one, Stripe is asked for what was missed.');
  await eventually('it can’t be synced', async () => (await ui.button('Sync now', pane).getAttribute('aria-disabled')) === 'true');
  await says(pane, 'A restricted key (rk_…) that may read events, and nothing else.', 'Stripe Dashboard, Developers, API keys', 'Sent only to');
  await hasNoBarriers(ui.page, 'a source without a key');
  await ui.button('Save key', pane).click();
  await says(pane.getByRole('alert'), 'Paste the key');
  const field = pane.getByRole('textbox', { name: 'API key' });
  await field.fill('rk_test_of_somebody_else');
  await ui.button('Save key', pane).click();
  await says(pane, 'Stored unencrypted in a file that only you can read');
  await says(state, 'Not synced yet');
  await ui.button('Check key', pane).click();
  await says(pane.getByRole('alert'), 'doesn’t know this key (401)');

  await ui.button('Replace', pane).click();
  await field.fill(KEY);
  await ui.button('Save key', pane).click();
  await gone(field);
  await ui.button('Check key', pane).click();
  await sees(pane.getByText('Stripe takes this key.'));
  assert.equal((await ui.page.content()).includes(KEY), false, 'the key is in the page');

  await ui.button('Remove', pane).click();
  const dialog = ui.page.getByRole('dialog');
  await says(dialog, 'Remove the API key of stripe?', 'isn’t synced any more');
  await hasNoBarriers(ui.page, 'the question before a key is removed');
  await ui.button('Remove the key', dialog).click();
  await says(state, 'No API key');
  assert.equal((await hookmitt.api.ask('GET', '/api/sync/stripe')).key, null);
});

story('a sync is followed, adds what was missing, and delivers it when asked', async (stage) => {
  const { hookmitt, provider, ui, pane, state } = await syncing(stage, { events: invoices(5), came: 3, provider: { most: 2 } });
  const server = await stage.server();
  await hookmitt.api.target('stripe', server.url);
  const [waits, go] = held();
  provider.instead = (request) => (request.url.includes('starting_after') ? waits : undefined);
  await ui.button('Sync now', pane).click();
  await says(state, /^Syncing: \d checked\./);
  await sees(ui.button('Cancel', pane));
  await says(ui.page.getByRole('list', { name: 'Jobs' }), 'Sync stripe', /\d checked/);
  await hasNoBarriers(ui.page, 'a sync that runs');
  provider.instead = () => undefined;
  go(undefined);
  await says(pane, /Stripe had 5 events since .*; 3 were here, 2 were added\./, 'They are kept in the inbox and not delivered yet.');
  await says(state, 'Complete until', 'It syncs only when you ask for it.');
  await says(pane.getByRole('table').last(), 'Deliver these 2', 'See them');

  const toast = ui.page.locator('.toast').filter({ hasText: 'stripe: 2 events added' });
  await toast.getByRole('button', { name: 'Deliver these 2' }).click();
  await server.waitFor(2);
  assert.ok(server.seen.every((seen) => seen.header('stripe-signature')), 'they are signed again');
  await counts(ui.button('Deliver these 2', pane), 0);
  await pane.getByRole('link', { name: 'See them' }).first().click();
  await eventually('the search is open', () => decodeURIComponent(ui.page.url()).includes('source:stripe+via:backup_sync'));
  await ui.hasRows(2);
});

story('a sync is cancelled, and says that it ended early', async (stage) => {
  const { provider, ui, pane, state } = await syncing(stage, { events: invoices(5), provider: { most: 2 } });
  const [waits, go] = held();
  provider.instead = (request) => (request.url.includes('starting_after') ? waits : undefined);
  await ui.button('Sync now', pane).click();
  await says(state, 'Syncing:');
  await ui.button('Cancel', pane).click();
  await says(pane, 'It was cancelled.');
  go(undefined);
  await sees(ui.button('Sync now', pane));
});

story('a dry run only shows what is missing', async (stage) => {
  const { hookmitt, ui, pane } = await syncing(stage, { events: invoices(3), came: 1 });
  await ui.button('Only show what is missing', pane).click();
  await says(pane, /Stripe had 3 events since .*; 1 was here, 2 are missing\./, 'Nothing was added: it was only looked at.');
  await says(ui.page.locator('.toasts'), 'stripe: 2 missing, nothing added');
  await says(pane.getByRole('table').last(), 'only shown');
  assert.equal((await hookmitt.api.events()).length, 1);
});

story('the days against the provider’s are counted, and each number is a link to its list', async (stage) => {
  const events = invoices(4);
  const { hookmitt, provider, ui, pane } = await syncing(stage, { events, came: 1, provider: { detailed: true } });
  await hookmitt.post('stripe', await signed('stripe', { body: JSON.stringify(invoice(99, 300, 'charge.refunded')) }));
  provider.emptied.add(events[3].id);
  await synced(hookmitt.api, 'stripe');
  await says(pane, /Stripe had 4 events since .*; 1 was here, 2 were added, 1 can’t be recovered\./);
  await pane.getByRole('link', { name: '1 only there' }).last().click();
  await says(pane, 'Only there', events[3].id, 'Not recoverable. The provider doesn’t have its content any more.');
  await hasNoBarriers(ui.page, 'a list of what is only there');
  await pane.getByRole('link', { name: '1 only here' }).last().click();
  await says(pane, 'charge.refunded', 'Stripe doesn’t list them');
  await ui.page.keyboard.press('Escape');
  await gone(pane.getByText('charge.refunded'));
  await pane.getByRole('link', { name: '3 in both' }).last().click();
  const row = pane.getByRole('row').filter({ hasText: events[1].id });
  await says(row, 'invoice.paid', 'Added');
  await ui.choose('Time', '30 days');
  await eventually('the time is in the address', () => ui.page.url().includes('days=30'));
  await pane.getByRole('link', { name: '3 in both' }).last().click();
  await row.getByRole('link').click();
  await says(ui.detail, 'invoice.paid', 'From the API, unsigned.', 'which gives the event but not what was signed');
  await pane.waitFor({ state: 'hidden' });
  assert.equal(await ui.detail.getByText('Fix', { exact: true }).count(), 0);

  await ui.go('#/sync/stripe');
  await pane.getByText('What this can’t recover').click();
  await says(pane, 'Events that are older than 30 days.');
});

story('what sync kept is delivered from its event, and is nothing bad in the list', async (stage) => {
  const { hookmitt, ui } = await syncing(stage, { events: invoices(2), settings: { delivery: 'keep' } });
  const server = await stage.server();
  await hookmitt.api.target('stripe', server.url);
  const report = await synced(hookmitt.api, 'stripe');
  assert.equal(report.kept, 2);
  await ui.go('#/events');
  await ui.hasRows(2);
  await says(ui.rows.first(), 'From the API', 'Kept');
  await sees(ui.rows.first().getByRole('img', { name: 'From the API, unsigned' }));
  await ui.select('invoice.paid');
  await says(ui.panel, 'not delivered: kept by backup sync');
  await hasNoBarriers(ui.page, 'an event from the provider’s API');
  await ui.button('Deliver', ui.panel).click();
  await server.waitFor(1);
  await ui.rows.nth(1).click();
  await says(ui.panel, 'not delivered: kept by backup sync');
  await ui.page.keyboard.press('f');
  await server.waitFor(2);
});

story('a sync that fails says why, here and in the navigation', async (stage) => {
  const { provider, ui, pane, state } = await syncing(stage, { events: invoices(1) });
  provider.instead = () => ({ status: 401, body: { error: { message: 'Expired API key' } } });
  await ui.button('Sync now', pane).click();
  await says(state, 'The last sync failed.', 'doesn’t know this key (401)');
  await says(ui.page.locator('.toasts'), 'stripe is not synced');
  await sees(ui.page.getByRole('img', { name: 'The last sync of stripe failed' }));
  await hasNoBarriers(ui.page, 'a sync that failed');
});

story('how a source is synced is set here, and what a connector lacks is asked for first', async (stage) => {
  const { hookmitt, ui, pane, state } = await syncing(stage);
  const view = (source) => hookmitt.api.ask('GET', `/api/sync/${source}`);
  await ui.choose('What was missing', 'Deliver');
  await eventually('it is kept', async () => (await view('stripe')).delivery === 'deliver');
  await says(pane, 'Delivered, signed again');
  await pane.getByLabel(/^How often/).click();
  await ui.page.getByRole('option', { name: 'Every 6 h' }).click();
  await eventually('it is kept', async () => (await view('stripe')).every_s === 21_600);

  await pane.getByText('Your own connector', { exact: true }).click();
  const text = pane.getByRole('textbox', { name: /as JSON/ });
  ui.watch.forgive(/status of 400/); // a connector that can't be used
  await text.fill('{"name": ');
  await ui.button('Use it', pane).click();
  await says(pane.getByRole('alert'), 'This isn’t JSON');
  await text.fill('{"name": "Acme", "hosts": []}');
  await ui.button('Use it', pane).click();
  await says(pane.getByRole('alert'), 'The connector can’t be used');
  await hasNoBarriers(ui.page, 'a connector that can’t be used');
  await ui.button('Use the provider’s again', pane).click();
  await says(pane, 'api.stripe.com', 'Confirmed by Stripe’s own documentation and code.');

  await hookmitt.api.source('shop', { provider: 'shopify' });
  await ui.go('#/sync/shop');
  await says(state, 'Shop is missing. What stands before .myshopify.com.');
  await pane.getByRole('textbox', { name: 'Shop' }).fill('acme');
  await ui.button('Save', pane).first().click();
  await says(state, 'No API key');
  assert.equal((await view('shop')).connector.params[0].value, 'acme');
  await says(pane, 'acme.myshopify.com');
});

story('a refused request is fetched from the provider, or leads to setting that up', async (stage) => {
  const { hookmitt, ui } = await syncing(stage, { events: [invoice(1, 60)] });
  await hookmitt.api.source('other', { provider: 'stripe' });
  for (const source of ['stripe', 'other']) {
    await tooLarge(hookmitt.capture, source);
  }
  await ui.go('#/refusals');
  const main = ui.page.getByRole('main', { name: 'Refusals' });
  const [first, second] = ['/stripe', '/other'].map((path) => main.getByRole('row').filter({ hasText: path }));
  await says(second, 'Set up sync to get it from the provider');
  await hasNoBarriers(ui.page, 'refusals with a way on');
  await ui.button('Get it from the provider', first).click();
  await says(ui.page.locator('.toasts'), 'stripe: 1 event added');
  await first.getByRole('link', { name: 'Asked for: see the sync' }).click();
  await says(ui.page.getByRole('region', { name: 'Source', exact: true }), 'Stripe had 1 event');
  await ui.go('#/refusals');
  await second.getByRole('link', { name: /Set up sync/ }).click();
  await says(ui.page.getByRole('region', { name: 'Source', exact: true }), 'No API key');
});

story('a gap in a tunnel in which events are lost is synced from there', async (stage) => {
  const [hookmitt, provider] = [await stage.hookmitt(), await Provider.start([invoice(1, 2_700)])];
  stage.leaves(() => provider.stop());
  await provider.source(hookmitt.api, 'stripe', { key: KEY });
  const now = Date.now();
  const at = (ago) => new Date(now - ago).toISOString();
  const gaps = [
    gap(2, at(3_600_000), at(1_800_000), { caught_up: 2, lost: 1, why: 'connection_refused' }),
    gap(1, at(9_000_000), at(8_000_000), { caught_up: 2, lost: 1, synced: 1, unrecoverable: 0 }),
  ];
  const ui = await stage.page(hookmitt);
  await pretend(ui.page, { tunnels: [tunnel(now, { gap: gaps[0] })], gaps });
  await ui.page.goto(await hookmitt.freshUrl());
  await ui.ready();
  await ui.go('#/tunnels/1');
  const pane = ui.page.getByRole('region', { name: 'Tunnel', exact: true });
  await says(pane.getByRole('row').last(), '2 + 1 by sync');
  await hasNoBarriers(ui.page, 'gaps that can be synced');
  await ui.button('Sync this time', pane).click();
  await says(ui.page.locator('.toasts'), 'stripe: 1 event added');
  const [report] = (await hookmitt.api.ask('GET', '/api/sync-reports')).items;
  assert.deepEqual([report.since, report.until].map((time) => Date.parse(time)), [now - 3_600_000, now - 1_800_000]);
  await pane.getByRole('link', { name: 'Backup sync' }).click();
  await says(ui.page.getByRole('region', { name: 'Source', exact: true }), /Stripe had 1 event from .* to /);
});

story('sync fits a narrow window, in both themes, and is reached by the keyboard alone', async (stage) => {
  const { hookmitt, ui, pane, list } = await syncing(stage, { events: invoices(3), came: 1, open: { size: [900, 700] } });
  await synced(hookmitt.api, 'stripe', { dry_run: true });
  await says(pane, '2 are missing');
  for (const theme of ['dark', 'light']) {
    for (const size of [[1440, 900], [900, 700], [600, 800]]) {
      const other = await stage.open(hookmitt, { theme, size });
      await other.go('#/sync/stripe?part=only_there');
      const there = other.page.getByRole('region', { name: 'Source', exact: true });
      await says(there, '2 are missing', 'Not recoverable', 'not here');
      await hasNoBarriers(other.page, `sync at ${size[0]} px, ${theme}`);
      assert.deepEqual(await tooWide(there), [], `something is wider than its pane at ${size[0]} px`);
      await other.page.close();
    }
  }
  await ui.page.setViewportSize({ width: 600, height: 800 });
  await ui.button('More', pane).focus();
  assert.equal((await focused(ui.page)).name, 'More');
  await ui.page.keyboard.press('Enter');
  await sees(ui.page.getByRole('menuitem', { name: 'Only show what is missing' }));
  await ui.page.keyboard.press('Escape');
  await gone(ui.page.getByRole('menu'));
  await ui.button('All sources', pane).click();
  await says(list, '1 of 1 source can be synced', 'stripe', 'by hand');
  await list.getByRole('link', { name: /stripe/ }).focus();
  await ui.page.keyboard.press('Enter');
  await sees(pane);
  await says(pane, 'By day');
});
