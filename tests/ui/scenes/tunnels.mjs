// Tunnels: a simulated week of them in every state, and real ones.
import { Channel, Programs } from '../support/detours.mjs';
import { seed } from '../support/inbox.mjs';
import { LOOK, NARROW, PHONE, WIDE, both, picture, settle } from '../support/picture.mjs';
import { pretend, quick, smee, tunnel, week } from '../support/pretend.mjs';
import { says, sees } from '../support/see.mjs';
import { eventually } from '../support/wait.mjs';

const HOUR = 3_600_000;
const pane = (ui) => ui.page.getByRole('region', { name: 'Tunnel', exact: true });
const dialog = (ui) => ui.page.getByRole('dialog');

const UNKNOWN = 'this relay doesn\'t know this tunnel, or this device isn\'t one of it: it left, was away for too long, or the tunnel\'s token was revoked; add the tunnel anew';

/** How a tunnel differs in each state. */
const states = (now) => ({
  connecting: { state: 'connecting', rtt_ms: null },
  offline: { state: 'offline', why: 'connection_refused', hindrance: 'connection_refused', rtt_ms: null, error: { code: 'relay-unreachable', message: 'connection refused by relay.acme.dev', hint: 'check that the relay is running, and its port' } },
  morning: { state: 'offline', why: 'asleep', hindrance: 'network', since: new Date(now - HOUR / 6).toISOString(), rtt_ms: null, error: { code: 'relay-unreachable', message: 'no route to relay.acme.dev', hint: 'check this machine’s network, and that the relay is running' } },
  refused: { state: 'refused', why: 'denied', hindrance: 'denied', rtt_ms: null, error: { code: 'unknown-device', message: UNKNOWN, hint: null } },
  catching: { waiting: { letters: 1204, bytes: 9_000_000, oldest_at: null }, to_acknowledge: 118, unknown: 3, refused: { count: 2, last_at: new Date(now - HOUR).toISOString() } },
  unreadable: { spoilt: { count: 1, last_at: new Date(now - HOUR).toISOString() }, error: { code: 'letter-unreadable', message: 'the letter can\'t be opened', hint: 'someone who knows the tunnel\'s public key sent it; check the relay\'s log' } },
  troubled: { stores: false, waiting: { letters: 3, bytes: 9_000, oldest_at: null }, error: { code: 'disk-full', message: 'the disk that holds the inbox is full', hint: 'free some space: 32 MiB (or an eighth of a small disk) are reserved for stored events; senders were told to try again, and capturing resumes automatically' } },
});

/** Starts a hookmitt with a day's events, whose page gets simulated tunnels. */
async function hearing(stage) {
  const hookmitt = await stage.hookmitt();
  const { servers, ...ids } = await seed(hookmitt.api, hookmitt.capture);
  stage.leaves(() => Promise.all(servers.map((server) => server.stop().catch(() => {}))));
  const now = Date.now();
  const before = (await hookmitt.api.events()).find((event) => now - Date.parse(event.received_at) > 16 * 60_000);
  const gaps = week(now, before.seq);
  const three = (change = {}) => [tunnel(now, { gap: gaps[0], ...change }), smee(now), quick(now)];
  const ui = await stage.page(hookmitt, LOOK);
  const told = await pretend(ui.page, { tunnels: three(), gaps });
  await ui.page.goto(await hookmitt.freshUrl());
  await ui.ready();
  return { ui, told, now, three, ids };
}

/** Tunnels with a week's history, in every state. */
export async function tunnels(stage) {
  const { ui, told, now, three, ids } = await hearing(stage);
  await both(ui, 'tunnels', '#/tunnels/1', 'Last 7 days');
  await both(ui, 'tunnels-smee', '#/tunnels/2', 'parses JSON');
  await both(ui, 'tunnels-off', '#/tunnels/3', 'Off since');
  await both(ui, 'gap-line', `#/events/${ids.first}`, 'Back at');
  await settle(ui, 'dark', NARROW);
  await ui.go(`#/events/${ids.first}`);
  await ui.scrollTo(9_999);
  await both(ui, 'gap-line-narrow', `#/events/${ids.first}`, 'Back at', NARROW);
  await both(ui, 'tunnels-narrow', '#/tunnels/1?gap=5', 'Last 7 days', NARROW);
  await both(ui, 'tunnels-phone', '#/tunnels/1', 'Last 7 days', PHONE);
  await both(ui, 'tunnels-phone-list', '#/tunnels', 'smee channel', PHONE);
  await both(ui, 'settings-source-urls', '#/settings/sources/stripe-test', 'Public URLs');
  for (const [name, change] of Object.entries(states(now))) {
    told.tunnels = three(change);
    await ui.page.reload();
    await both(ui, `tunnels-${name}`, '#/tunnels/1', 'Last 7 days');
    await both(ui, `tunnels-${name}-narrow`, '#/tunnels/1', 'Last 7 days', NARROW);
    await both(ui, `tunnels-${name}-phone`, '#/tunnels/1', 'Last 7 days', PHONE);
  }
  told.tunnels = Object.entries(states(now)).map(([name, change], at) => tunnel(now, { id: at + 1, label: name, host: `relay-${name}.acme.dev`, ...change }));
  await ui.page.reload();
  await both(ui, 'strip', '#/events', 'relay-troubled');
  await both(ui, 'strip-narrow', '#/events', 'of them', NARROW);
}

/** How tunnels are added and removed, and what the page shows before the first one. */
export async function adding(stage) {
  const { ui, told, three, now } = await hearing(stage);
  told.tunnels = three(states(now).catching);
  await ui.page.reload();
  for (const [size, suffix] of [[WIDE, ''], [PHONE, '-phone']]) {
    for (const way of ['Relay', 'Invitation', 'smee channel', 'Quick URL']) {
      await settle(ui, 'dark', size);
      await ui.go('#/tunnels/add');
      await ui.choose('Kind', way);
      await picture(ui, `tunnel-add-${way.split(' ')[0].toLowerCase()}${suffix}`);
    }
    await ui.choose('Kind', 'Relay');
    await ui.button('Add', dialog(ui)).click();
    await settle(ui, 'light', size);
    await picture(ui, `tunnel-add-wrong${suffix}`);
    await ui.page.keyboard.press('Escape');
    await ui.go('#/tunnels/1');
    await ui.button('More', pane(ui)).click();
    await picture(ui, `tunnel-menu${suffix}`);
    await ui.page.getByRole('menuitem', { name: 'Remove this tunnel' }).click();
    await picture(ui, `tunnel-remove${suffix}`);
    await ui.button('Remove the tunnel', dialog(ui)).click();
    await sees(dialog(ui).getByRole('alert'));
    await picture(ui, `tunnel-remove-refused${suffix}`);
    await ui.page.keyboard.press('Escape');
  }
  await both(ui, 'tunnels-missing', '#/tunnels/99', 'No such tunnel');
  await both(ui, 'tunnels-missing-phone', '#/tunnels/99', 'No such tunnel', PHONE);
  told.tunnels = [];
  await ui.page.reload();
  await both(ui, 'tunnels-empty', '#/tunnels', 'No tunnel yet');
  await both(ui, 'tunnels-empty-phone', '#/tunnels', 'No tunnel yet', PHONE);
}

/** The page before the tunnels are loaded, and if they can't be. */
export async function unread(stage) {
  const hookmitt = await stage.hookmitt();
  await hookmitt.post('shop', { body: '{}' });
  const ui = await stage.page(hookmitt, LOOK);
  let answer;
  await ui.page.route('**/api/tunnels', (route) => { answer = () => route.fulfill({ status: 500, contentType: 'application/problem+json', body: '{"code":"inbox","detail":"the inbox could not be read: disk I/O error","hint":"look at the log"}' }); });
  for (const [size, suffix] of [[WIDE, ''], [PHONE, '-phone']]) {
    await settle(ui, 'dark', size);
    await ui.page.goto('about:blank');
    await ui.page.goto(await hookmitt.freshUrl());
    await ui.ready();
    await ui.go('#/tunnels');
    await sees(ui.page.getByRole('status', { name: 'Loading' }).first());
    await picture(ui, `tunnels-loading${suffix}`);
    await answer();
    await both(ui, `tunnels-error${suffix}`, '#/tunnels', 'could not be read', size);
  }
}

/** A channel and a program that really run, with their limits, and what remains when they end. */
export async function detours(stage) {
  const [programs, channel] = [new Programs(), await Channel.start()];
  stage.leaves(() => programs.remove());
  stage.leaves(() => channel.stop().catch(() => {}));
  programs.install();
  const hookmitt = await stage.hookmitt({ env: programs.env });
  for (const source of ['shop', 'billing']) await hookmitt.api.source(source);
  await hookmitt.api.ask('POST', '/api/tunnels', { kind: 'smee', url: channel.url, source: 'shop' });
  await hookmitt.api.ask('POST', '/api/tunnels', { kind: 'cloudflared', source: 'billing' });
  await channel.passOn({ 'x-github-event': 'push' }, { n: 1 });
  const ui = await stage.open(hookmitt, LOOK);
  await both(ui, 'detour-smee', '#/tunnels/1', 'parses JSON');
  await both(ui, 'detour-program', '#/tunnels/2', 'Connected since');
  await both(ui, 'detour-program-narrow', '#/tunnels/2', 'Connected since', NARROW);
  await channel.stop();
  await both(ui, 'detour-smee-offline', '#/tunnels/1', 'Offline since');
  await both(ui, 'detour-smee-offline-phone', '#/tunnels/1', 'Offline since', PHONE);
}

/** A real relay: an invitation, header lines added by proxies, and a revoked token. */
export async function relay(stage) {
  const hookmitt = await stage.hookmitt();
  const relay = await stage.relay(['--trusted-proxy', '127.0.0.1']);
  await hookmitt.api.source('shop');
  const token = await relay.token();
  await hookmitt.api.ask('POST', '/api/tunnels', { relay: relay.url, token, name: 'acme-dev' });
  await eventually('the relay knows the source', async () => (await relay.post('acme-dev', 'shop', { path: '/first', body: '{}' })).status < 300);
  const headers = [['User-Agent', 'Example/1.0'], ['Content-Type', 'application/json'], ['X-Own', 'mine'], ['X-Forwarded-For', '203.0.113.9, 198.51.100.7'], ['X-Forwarded-Proto', 'https'], ['X-Forwarded-Host', 'relay.acme.dev']];
  await relay.post('acme-dev', 'shop', { path: '/proxied', headers, body: '{"order":1042}' });
  const ui = await stage.open(hookmitt, LOOK);
  await ui.select('/proxied');
  const id = new URL(ui.page.url()).hash.split('/')[2];
  await both(ui, 'proxied', `#/events/${id}/headers`, 'Added by proxies');
  await both(ui, 'proxied-narrow', `#/events/${id}/headers`, 'Added by proxies', NARROW);
  await ui.panel.getByRole('textbox', { name: 'Filter headers' }).fill('203.0');
  await picture(ui, 'proxied-filtered');
  await settle(ui, 'dark');
  await both(ui, 'relay', '#/tunnels/1', 'None so far');
  await ui.button('More', pane(ui)).click();
  await ui.page.getByRole('menuitem', { name: 'Invite another device' }).click();
  await picture(ui, 'tunnel-invite');
  await ui.button('Create an invitation', dialog(ui)).click();
  await sees(dialog(ui).getByLabel('Invitation', { exact: true }));
  for (const [theme, size] of [['dark', WIDE], ['light', PHONE]]) {
    await settle(ui, theme, size);
    await picture(ui, `tunnel-invited-${theme}`);
  }
  await ui.button('Done', dialog(ui)).click();
  await relay.revoke();
  await says(pane(ui).getByRole('status'), /^Refused/);
  await both(ui, 'relay-revoked', '#/tunnels/1', 'Refused by');
}
