// The inspector and settings: with a day's events, with none, and where something is missing.
import { seed } from '../support/inbox.mjs';
import { LOOK, NARROW, PHONE, picture, settle } from '../support/picture.mjs';
import { stripe } from '../support/samples.mjs';
import { says, sees } from '../support/see.mjs';
import { signed } from '../support/senders.mjs';
import { eventually } from '../support/wait.mjs';

async function show(ui, id, tab = 'overview') {
  await ui.go(`#/events/${id}/${tab}`);
  const { title } = await ui.hookmitt.api.event(id);
  await says(ui.detail.getByRole('heading').first(), title ?? '');
  await sees(ui.panel);
}

/** The full inbox: the inspector with its tabs, and settings, in both themes. */
export async function inbox(stage) {
  const hookmitt = await stage.hookmitt();
  const { servers, ...ids } = await seed(hookmitt.api, hookmitt.capture);
  stage.leaves(() => Promise.all(servers.map((server) => server.stop().catch(() => {}))));
  const waiting = (await hookmitt.api.events('status=pending'))[0].id;
  const ui = await stage.open(hookmitt, LOOK);
  await ui.hasRowsBeyond(8);
  for (const theme of ['dark', 'light']) {
    await settle(ui, theme);
    await show(ui, ids.first);
    await picture(ui, `inspector-${theme}`);
    await ui.list.getByTitle('Show the repeats').click();
    await sees(ui.row('Duplicate').last());
    await picture(ui, `repeats-${theme}`);
    await ui.list.getByTitle('Fold the repeats away').click();
    await show(ui, ids.invalid);
    await picture(ui, `invalid-${theme}`);
    await show(ui, ids.invalid, 'signature');
    await sees(ui.panel.getByText('Causes tried'));
    await picture(ui, `signature-${theme}`);
    await show(ui, ids.changed);
    await sees(ui.panel.getByText('Proven'));
    await picture(ui, `changed-${theme}`);
    await show(ui, ids.changed, 'signature');
    await sees(ui.panel.getByRole('region', { name: /^Received/ }));
    await picture(ui, `changed-signature-${theme}`);
    await show(ui, ids.dead);
    await picture(ui, `dead-letter-${theme}`);
    for (const page of ['sources', 'sources/stripe-test', 'general', 'retention', 'about']) {
      await ui.go(`#/settings/${page}`);
      await sees(ui.page.getByRole('main').getByRole('heading').first());
      await picture(ui, `settings-${page.replace('/', '-')}-${theme}`);
    }
  }
  await settle(ui, 'dark');
  await show(ui, waiting);
  await picture(ui, 'waiting');
  for (const tab of ['headers', 'deliveries']) {
    await show(ui, ids.first, tab);
    await picture(ui, tab);
  }
  await show(ui, ids.first, 'body');
  for (const view of ['Pretty', 'Raw', 'Hex']) {
    await ui.choose('Shown as', view);
    await picture(ui, `body-${view.toLowerCase()}`);
  }
  for (const theme of ['dark', 'light']) {
    await settle(ui, theme, NARROW);
    await show(ui, ids.first);
    await picture(ui, `narrow-${theme}`);
    await ui.list.getByTitle('Show the repeats').click();
    await sees(ui.row('Duplicate').last());
    await picture(ui, `repeats-narrow-${theme}`);
    await ui.list.getByTitle('Fold the repeats away').click();
  }
  await settle(ui, 'dark', PHONE);
  await picture(ui, 'phone-detail');
  await ui.page.keyboard.press('Escape');
  await picture(ui, 'phone-list');
  await settle(ui, 'dark');
  await states(ui, hookmitt);
}

/** States in which nothing matches, many events are new, or the connection is lost. */
async function states(ui, hookmitt) {
  await ui.go('#/events');
  await ui.page.keyboard.press('?');
  await picture(ui, 'keys');
  await ui.page.keyboard.press('Escape');
  await ui.search.fill('nothing is called so');
  await ui.search.press('Enter');
  await sees(ui.page.getByText('No event matches'));
  await picture(ui, 'no-match');
  await ui.page.keyboard.press('Escape');
  await ui.page.keyboard.press('Escape');
  await ui.hasRowsBeyond(8);
  await ui.list.focus();
  await ui.page.keyboard.press('Space');
  for (let number = 0; number < 12; number += 1) {
    await hookmitt.post('stripe-test', await signed('stripe', { body: stripe.charge(Date.now(), { id: `new${number}` }) }));
  }
  await sees(ui.button(/^12 new/));
  await picture(ui, 'new-events');
  await hookmitt.stop('SIGKILL');
  await sees(ui.page.getByText(/not connected/i).first());
  await picture(ui, 'not-connected');
}

/** An empty inbox, with and without its requirements. */
export async function beginning(stage) {
  const hookmitt = await stage.hookmitt();
  const ui = await stage.open(hookmitt, LOOK);
  for (const theme of ['dark', 'light']) {
    await settle(ui, theme);
    await picture(ui, `first-run-${theme}`);
  }
  await settle(ui, 'dark', NARROW);
  await picture(ui, 'first-run-narrow');
  await settle(ui, 'dark');
  await ui.go('#/settings/sources');
  await sees(ui.page.getByRole('main').getByRole('heading').first());
  await picture(ui, 'settings-sources-empty');
  await ui.go('#/events?view=dead_letter');
  await sees(ui.page.getByText(/dead letter/i).first());
  await picture(ui, 'empty-view');
}

/** What the page shows before the list is loaded, and in place of it. */
export async function waiting(stage) {
  const hookmitt = await stage.hookmitt();
  await hookmitt.post('shop', { body: '{"a":1}' });
  const ui = await stage.page(hookmitt, LOOK);
  await ui.page.goto(hookmitt.api.url);
  await sees(ui.page.getByText(/Open this page from hookmitt/));
  await picture(ui, 'no-code');
  const asked = []; // the list, and what the left pane counts
  await ui.page.route('**/api/events?*', (route) => { asked.push(route); });
  await ui.page.goto('about:blank');
  await ui.page.goto(await hookmitt.freshUrl());
  await sees(ui.page.getByRole('status', { name: 'Loading' }).first());
  await picture(ui, 'loading');
  for (const route of asked) await route.fulfill({ status: 500, contentType: 'application/problem+json', body: '{"code":"inbox","detail":"the inbox could not be read: disk I/O error","hint":"look at the log"}' });
  await sees(ui.page.getByRole('alert'));
  await picture(ui, 'error');
}

/** An event whose first attempt was running when hookmitt was killed: nobody knows whether it arrived. */
export async function cutOff(stage) {
  const [hookmitt, server] = [await stage.hookmitt(), await stage.server()];
  await hookmitt.api.target('shop', server.url);
  server.answer = () => new Promise(() => {});
  await hookmitt.post('shop', { headers: [['Content-Type', 'application/json']], body: '{"order":17}' });
  await eventually('it is under way', async () => server.seen.length === 1);
  await hookmitt.stop('SIGKILL');
  server.answer = () => 200;
  await hookmitt.startAgain();
  await eventually('it is delivered', async () => (await hookmitt.api.events())[0].status === 'completed');
  const ui = await stage.open(hookmitt, LOOK);
  const { id } = (await hookmitt.api.events())[0];
  for (const theme of ['dark', 'light']) {
    await settle(ui, theme);
    await show(ui, id);
    await picture(ui, `cut-off-${theme}`);
    await show(ui, id, 'deliveries');
    await picture(ui, `cut-off-deliveries-${theme}`);
  }
}
