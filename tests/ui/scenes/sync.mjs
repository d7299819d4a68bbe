// Backup sync: nothing to sync, a source that lacks its key, one that runs, one with everything, and what goes wrong.
import { LOOK, NARROW, PHONE, both, picture, settle } from '../support/picture.mjs';
import { KEY, Provider, invoice, synced } from '../support/provider.mjs';
import { SECRETS, signed } from '../support/senders.mjs';
import { sees } from '../support/see.mjs';
import { eventually } from '../support/wait.mjs';

const DAY = 24 * 60 * 60;

/** Events of a week; every `missed`th was sent and never came. */
function week(missed) {
  const types = ['invoice.paid', 'charge.succeeded', 'customer.subscription.updated', 'payment_intent.succeeded'];
  const all = [];
  for (let day = 0; day < 7; day += 1) {
    const many = [9, 14, 22, 17, 25, 12, 6][day];
    for (let at = 0; at < many; at += 1) all.push(invoice(all.length, day * DAY + 600 + at * 1_700, types[at % 4]));
  }
  return { all, came: all.filter((_, at) => at % missed !== 0) };
}

/** Adds what came as webhooks, with the times at which they were sent. */
async function arrive(hookmitt, source, events) {
  const fixtures = await Promise.all(events.map(async (event) => {
    const at = event.created * 1_000;
    const { method, headers, body } = await signed('stripe', { at, body: JSON.stringify(event) });
    return { format: 1, source, received_at: new Date(at + 400).toISOString(), url: `http://127.0.0.1:4400/${source}`, method, path: '', query: null,
      http_version: 'HTTP/1.1', headers: [['Host', '127.0.0.1:4400'], ...headers], body: body.toString() };
  }));
  await hookmitt.api.import(fixtures);
}

/** No source, and sources of which none can be synced yet. */
export async function sync_empty(stage) {
  const hookmitt = await stage.hookmitt();
  const ui = await stage.open(hookmitt, LOOK);
  await both(ui, 'sync-empty', '#/sync', 'Nothing to sync yet');
  await hookmitt.api.source('stripe-test', { provider: 'stripe' });
  await hookmitt.api.source('shop', { provider: 'shopify' });
  await hookmitt.api.source('linear', { provider: 'linear' });
  await hookmitt.api.source('intake');
  await both(ui, 'sync-key', '#/sync/stripe-test', 'No API key');
  await both(ui, 'sync-key-narrow', '#/sync/stripe-test', 'No API key', NARROW);
  await both(ui, 'sync-param', '#/sync/shop', 'is missing');
  await both(ui, 'sync-no-provider', '#/sync/intake', 'has no provider yet');
  await both(ui, 'sync-no-api', '#/sync/linear', 'No API lists');
}

/** A source with a week behind it: found, missing, not recoverable, and what its syncs found. */
export async function sync_full(stage) {
  const { all, came } = week(11);
  const [hookmitt, provider, server] = [await stage.hookmitt(), await Provider.start(all, { detailed: true }), await stage.server()];
  stage.leaves(() => provider.stop());
  await provider.source(hookmitt.api, 'stripe-test', { key: KEY });
  for (const [slug, provider] of [['shopify', 'shopify'], ['github', 'github'], ['intake', undefined], ['linear', 'linear']]) await hookmitt.api.source(slug, { provider });
  await hookmitt.api.secret('stripe-test', SECRETS.stripe);
  await hookmitt.api.target('stripe-test', server.url);
  await arrive(hookmitt, 'stripe-test', came);
  for (const one of [invoice(900, 400), invoice(901, 300)]) await hookmitt.post('stripe-test', await signed('stripe', { body: JSON.stringify(one) }));
  const since = new Date(Date.now() - 7 * DAY * 1000).toISOString();
  await synced(hookmitt.api, 'stripe-test', { since, dry_run: true });
  const ui = await stage.open(hookmitt, LOOK);
  await both(ui, 'sync-dry', '#/sync/stripe-test', 'are missing');
  await synced(hookmitt.api, 'stripe-test', { since });
  all.push(invoice(777, 9_000, 'charge.refunded'), invoice(778, 80_000), invoice(779, 82_000, 'charge.refunded'));
  for (const { id } of all.slice(-2)) provider.emptied.add(id);
  await synced(hookmitt.api, 'stripe-test');
  await both(ui, 'sync-full', '#/sync/stripe-test', 'can’t be recovered');
  await both(ui, 'sync-there', '#/sync/stripe-test?part=only_there', 'Not recoverable.');
  await both(ui, 'sync-both', '#/sync/stripe-test?part=both', 'Added');
  await both(ui, 'sync-30', '#/sync/stripe-test?days=30', 'By day');
  await both(ui, 'sync-narrow', '#/sync/stripe-test', 'By day', NARROW);
  await both(ui, 'sync-phone', '#/sync/stripe-test', 'By day', PHONE);
  await both(ui, 'sync-list-phone', '#/sync', 'can be synced', PHONE);
  await ui.go('#/events');
  await both(ui, 'sync-settings', '#/sync/stripe-test/settings', 'What was missing');
  await ui.go('#/events');
  const copy = (await hookmitt.api.events('q=via:backup_sync'))[0];
  await both(ui, 'sync-event', `#/events/${copy.id}`, 'From the API');

  let go;
  const waits = new Promise((resolve) => { go = resolve; });
  let calls = 0;
  provider.instead = () => ((calls += 1) > 1 ? waits : undefined);
  await hookmitt.api.ask('POST', '/api/sync/stripe-test', { since });
  await eventually('it waits for the second page', () => calls > 1);
  await both(ui, 'sync-running', '#/sync/stripe-test', 'Syncing:');
  go({ status: 401, body: { error: { message: 'Expired API key' } } });
  await both(ui, 'sync-failed', '#/sync/stripe-test', 'The last sync failed');
  await both(ui, 'sync-settings-source', '#/settings/sources/stripe-test', 'Backup sync');
}

/** What is shown if the API of this page doesn't answer well. */
export async function sync_error(stage) {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('stripe-test', { provider: 'stripe' });
  const ui = await stage.page(hookmitt, LOOK);
  const body = { type: 'about:blank', title: '', status: 500, code: 'disk-fault', detail: 'the inbox can\'t be read', hint: 'look at the log' };
  await ui.page.route('**/api/sync', (route) => route.fulfill({ status: 500, contentType: 'application/problem+json', json: body }));
  await ui.page.goto(await hookmitt.freshUrl());
  await ui.ready();
  for (const theme of ['dark', 'light']) {
    await settle(ui, theme);
    await ui.go('#/sync');
    await sees(ui.page.getByText('could not be read').first());
    await picture(ui, `sync-error-${theme}`);
  }
}
