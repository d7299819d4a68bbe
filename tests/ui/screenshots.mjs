// Renders every screen from seeded data into tests/ui/screenshots: node screenshots.mjs [a part of a name]
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { closeBrowser } from './support/browser.mjs';
import { seed } from './support/inbox.mjs';
import { pretend, quick, smee, tunnel, week } from './support/pretend.mjs';
import { stripe } from './support/samples.mjs';
import { sees } from './support/see.mjs';
import { signed } from './support/senders.mjs';
import { Stage } from './support/stage.mjs';

const folder = fileURLToPath(new URL('screenshots', import.meta.url));
const [part = ''] = process.argv.slice(2);
const WIDE = [1440, 900];
const NARROW = [900, 700];

/** Takes a picture, once fonts are there and nothing is busy. */
async function picture(ui, name) {
  if (!name.includes(part)) return;
  await ui.page.evaluate(() => document.fonts.ready);
  await ui.page.mouse.move(0, 0);
  await ui.page.screenshot({ path: `${folder}/${name}.png`, animations: 'disabled' });
  console.log(`${name}.png`);
}

const LOOK = { scale: 2, size: WIDE };

async function show(ui, id, tab = 'overview') {
  await ui.go(`#/events/${id}/${tab}`);
  await sees(ui.panel);
}

async function settle(ui, theme, size = WIDE) {
  await ui.page.emulateMedia({ colorScheme: theme });
  await ui.page.setViewportSize({ width: size[0], height: size[1] });
}

/** The full inbox: the inspector with its tabs, and settings, in both themes. */
async function inbox(stage) {
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
    await show(ui, ids.invalid);
    await picture(ui, `invalid-${theme}`);
    await show(ui, ids.invalid, 'signature');
    await sees(ui.panel.getByText('Causes tried'));
    await picture(ui, `signature-${theme}`);
    await show(ui, ids.dead);
    await picture(ui, `dead-letter-${theme}`);
    for (const page of ['sources', 'sources/stripe-test', 'general', 'about']) {
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
  }
  await settle(ui, 'dark', [600, 800]);
  await picture(ui, 'phone-detail');
  await ui.page.keyboard.press('Escape');
  await picture(ui, 'phone-list');
  await settle(ui, 'dark');
  await states(ui, hookmitt);
}

/** Nothing fits, much is new, the line is cut. */
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

/** An empty inbox, with and without what it needs. */
async function beginning(stage) {
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

/** What is seen before the list is there, and instead of it. */
async function waiting(stage) {
  const hookmitt = await stage.hookmitt();
  await hookmitt.post('shop', { body: '{"a":1}' });
  const ui = await stage.page(hookmitt, LOOK);
  await ui.page.goto(hookmitt.api.url);
  await sees(ui.page.getByText(/Open this page from hookmitt/));
  await picture(ui, 'no-code');
  let answer = () => {};
  await ui.page.route('**/api/events?*', (route) => { answer = () => route.fulfill({ status: 500, contentType: 'application/problem+json', body: '{"code":"inbox","detail":"the inbox could not be read: disk I/O error","hint":"look at the log"}' }); });
  await ui.page.goto('about:blank');
  await ui.page.goto(await hookmitt.freshUrl());
  await sees(ui.page.getByRole('status', { name: 'Loading' }).first());
  await picture(ui, 'loading');
  await answer();
  await sees(ui.page.getByRole('alert'));
  await picture(ui, 'error');
}

/** Tunnels with a week behind them, in every state, and how they are added. */
async function tunnels(stage) {
  const hookmitt = await stage.hookmitt();
  const { servers, ...ids } = await seed(hookmitt.api, hookmitt.capture);
  stage.leaves(() => Promise.all(servers.map((server) => server.stop().catch(() => {}))));
  const now = Date.now();
  const listed = await hookmitt.api.events();
  const before = listed.find((event) => now - Date.parse(event.received_at) > 16 * 60_000);
  const gaps = week(now, before.seq);
  const ui = await stage.page(hookmitt, LOOK);
  const told = await pretend(ui.page, { tunnels: [tunnel(now, { gap: gaps[0] }), smee(now), quick(now)], gaps });
  await ui.page.goto(await hookmitt.freshUrl());
  await ui.ready();
  const show = async (name, hash, text, size = WIDE) => {
    for (const theme of ['dark', 'light']) {
      await settle(ui, theme, size);
      await ui.go(hash);
      await sees(ui.page.getByText(text).first());
      await picture(ui, `${name}-${theme}`);
    }
  };
  await show('tunnels', '#/tunnels/1', 'Last 7 days');
  await show('tunnels-smee', '#/tunnels/2', 'parses JSON');
  await show('tunnels-off', '#/tunnels/3', 'Off since');
  await show('gap-line', `#/events/${ids.first}`, 'Back at');
  await settle(ui, 'dark', NARROW);
  await ui.go(`#/events/${ids.first}`);
  await ui.scrollTo(9_999);
  await show('gap-line-narrow', `#/events/${ids.first}`, 'Back at', NARROW);
  await show('tunnels-narrow', '#/tunnels/1?gap=5', 'Last 7 days', NARROW);
  await show('tunnels-phone', '#/tunnels/1', 'Last 7 days', [600, 800]);
  await show('tunnels-phone-list', '#/tunnels', 'smee channel', [600, 800]);
  await show('settings-source-urls', '#/settings/sources/stripe-test', 'Public URLs');
  for (const [name, change] of Object.entries({
    offline: { state: 'offline', why: 'network', rtt_ms: null, error: { code: 'unreachable', message: 'relay.acme.dev does not answer', hint: 'it is tried again in 8 s' } },
    refused: { state: 'refused', rtt_ms: null, error: { code: 'unknown-device', message: 'the relay does not know this device', hint: 'it was removed, or has been away for 30 days: join again' } },
    catching: { waiting: { letters: 1204, bytes: 9_000_000, oldest_at: null }, to_acknowledge: 118, unknown: 3, refused: { count: 2, last_at: new Date(now - 3_600_000).toISOString() } },
  })) {
    told.tunnels = [tunnel(now, { gap: gaps[0], ...change }), smee(now), quick(now)];
    await ui.page.reload();
    await show(`tunnels-${name}`, '#/tunnels/1', 'Last 7 days');
  }
  await settle(ui, 'dark');
  for (const way of ['Relay', 'Invitation', 'smee channel', 'Quick URL']) {
    await ui.go('#/tunnels/add');
    await ui.choose('What makes it', way);
    await picture(ui, `tunnel-add-${way.split(' ')[0].toLowerCase()}`);
  }
  await ui.choose('What makes it', 'Relay');
  await ui.button('Add', ui.page.getByRole('dialog')).click();
  await settle(ui, 'light');
  await picture(ui, 'tunnel-add-wrong');
  await ui.page.keyboard.press('Escape');
  await ui.button('More', ui.page.getByRole('region', { name: 'Tunnel', exact: true })).click();
  await ui.page.getByRole('menuitem', { name: 'Remove this tunnel' }).click();
  await picture(ui, 'tunnel-remove');
  await ui.page.keyboard.press('Escape');
  told.tunnels = [];
  await ui.page.reload();
  await show('tunnels-empty', '#/tunnels', 'No tunnel yet');
}

/** How a sender signs that the catalogue doesn't have, and set-up requests with what is left to do. */
async function signing(stage) {
  const hookmitt = await stage.hookmitt();
  const generic = { signature_header: 'X-Greenhouse-Signature', algorithm: 'hmac-sha256', encoding: 'hex', format: 'fields', version: 'v1', signed_content: '{timestamp}.{body}', timestamp_header: 'X-Greenhouse-Time', id_at: '/id', title_at: '/title' };
  await hookmitt.api.source('greenhouse', { generic });
  await hookmitt.api.source('tasks', { provider: 'asana' });
  await hookmitt.post('tasks', { body: '{}', headers: [['X-Hook-Secret', 'b537207f20cbfa02357cf448134da559'], ['Content-Type', 'application/json']] });
  const [{ id }] = await hookmitt.api.events();
  const ui = await stage.open(hookmitt, LOOK);
  for (const theme of ['dark', 'light']) {
    await settle(ui, theme);
    await ui.go('#/settings/sources/greenhouse');
    const content = ui.page.getByRole('textbox', { name: 'Signed content' });
    await sees(content);
    await picture(ui, `own-scheme-${theme}`);
    await content.fill('{timestamp}.{bdy}');
    await ui.button('Save', ui.page.getByRole('region', { name: 'Changes that are not saved' })).click();
    await sees(ui.page.getByText('unknown place'));
    await picture(ui, `own-scheme-refused-${theme}`);
    await ui.button('Discard').click();
    await show(ui, id);
    await sees(ui.button('Save this secret', ui.panel));
    await picture(ui, `handshake-${theme}`);
  }
}

mkdirSync(folder, { recursive: true });
let failed = false;
const scenes = [inbox, signing, tunnels, beginning, waiting].filter((scene) => !process.env.SCENE || scene.name === process.env.SCENE);
for (const scene of scenes) {
  const stage = new Stage();
  try {
    await scene(stage);
  } catch (error) {
    failed = true;
    console.error(`${scene.name}: ${error.stack}`);
  }
  await stage.end(); // what a page does wrong is the stories' to tell
}
await closeBrowser();
process.exit(failed ? 1 : 0);
