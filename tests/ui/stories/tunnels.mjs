// How tunnels are shown: their state, their week, their gaps, and how they are added.
import assert from 'node:assert/strict';

import { gap, pretend, quick, smee, tunnel, week } from '../support/pretend.mjs';
import { counts, gone, hasNoBarriers, says, sees } from '../support/see.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

/** Starts a hookmitt whose page gets these tunnels; returns the simulated data, which can be changed. */
async function hearing(stage, make, options = {}) {
  const hookmitt = await stage.hookmitt();
  const { events = 3 } = options;
  for (let at = 0; at < events; at += 1) await hookmitt.post('shop', { path: `/order/${at}`, body: '{"a":1}' });
  const listed = await hookmitt.api.events();
  const ui = await stage.page(hookmitt, options);
  const told = await pretend(ui.page, make(Date.now(), listed));
  await ui.page.goto(await hookmitt.freshUrl());
  await ui.ready();
  return { hookmitt, ui, told, listed, pane: ui.page.getByRole('region', { name: 'Tunnel', exact: true }) };
}

const three = (now) => {
  const gaps = week(now);
  return { tunnels: [tunnel(now, { gap: gaps[0] }), smee(now), quick(now)], gaps };
};

story('a tunnel says in one sentence how it is, and shows its stations, its week and its gaps', async (stage) => {
  const { ui, pane } = await hearing(stage, three);
  await ui.page.keyboard.press('g');
  await ui.page.keyboard.press('t');
  const list = ui.page.getByRole('region', { name: 'Tunnels', exact: true });
  await says(list, '1 connected, 1 limited, 1 off', 'acme-dev', '38 ms', 'Rewrites JSON: signatures can’t verify', 'Quick public URL, off since');
  await says(pane.getByRole('status'), /^Connected since (\w{3} )?\d\d:\d\d\. Offline .* while the computer slept: 37 events caught up, 0 lost\.$/);
  await says(pane.getByRole('list', { name: 'The way of an event' }), 'Providers', 'relay.acme.dev', '0 in the mailbox, sealed', 'Stores and answers', 'no target');
  await says(pane, '9 in 7 days, 214 events caught up, 2 not recoverable', '2 requests are lost. The relay refused them');
  await counts(pane.getByRole('row'), 10);
  await says(pane.getByRole('row').filter({ hasText: 'Connection refused' }), '7 h', '22', '2');
  await says(ui.page.getByRole('list', { name: 'Connection' }), 'relay.acme.dev 38 ms');

  await list.getByRole('link', { name: /smee channel/ }).click();
  await says(pane, 'Connected since', 'limited. Rewrites JSON', 'signatures can’t verify', 'Nothing is stored');
});

story('the events of a gap are one click away', async (stage) => {
  const { ui, pane } = await hearing(stage, (now) => {
    const one = gap(1, new Date(now - 3_600_000).toISOString(), new Date(now - 1_800_000).toISOString(), { caught_up: 2, lost: 0 });
    return { tunnels: [tunnel(now, { gap: one })], gaps: [one] };
  });
  await ui.go('#/tunnels/1');
  await pane.getByRole('link', { name: /^Events of (Today|\w{3}) \d/ }).click();
  await sees(ui.page.getByText('No event matches'));
  await says(ui.page.locator('body'), '3 events are hidden by after:');
});

/** Measures rows and gap lines: each should begin where the one above it ends. */
const standing = (ui) => ui.list.evaluate((list) => {
  const boxes = [...list.querySelectorAll('[role=option], .gap')].map((one) => ({ gap: one.classList.contains('gap'), ...one.getBoundingClientRect().toJSON() }));
  const sorted = boxes.sort((a, b) => a.top - b.top);
  const gaps = sorted.filter(({ gap }) => gap).map(({ height }) => height);
  const seams = sorted.slice(1).map((box, at) => Math.abs(box.top - sorted[at].bottom));
  return { gaps, widest: Math.max(0, ...seams), count: sorted.length };
});

story('what else is new of a tunnel does not read its past again', async (stage) => {
  const { ui, pane } = await hearing(stage, three);
  let reads = 0;
  ui.page.on('request', (request) => { reads += /tunnels\/1\/gaps/.test(request.url()) ? 1 : 0; });
  await ui.go('#/tunnels/1');
  await counts(pane.getByRole('row'), 10);
  for (const [press, then] of [['Disconnect', 'Connect'], ['Connect', 'Disconnect']]) {
    await pane.getByRole('button', { name: press, exact: true }).click();
    await sees(pane.getByRole('button', { name: then, exact: true }));
  }
  await ui.go('#/tunnels/2');
  await says(pane, 'Nothing is stored');
  assert.equal(reads, 1, 'once, when it was opened');
});

story('in a narrow window it is said that there is no tunnel, and how to add one', async (stage) => {
  const { ui } = await hearing(stage, () => ({ tunnels: [] }), { size: [800, 700] });
  await ui.go('#/tunnels');
  const list = ui.page.getByRole('region', { name: 'Tunnels', exact: true });
  await says(list, 'No tunnel yet');
  const { y } = await list.getByText('No tunnel yet').boundingBox();
  assert.ok(y < 350, `it stands in the upper half: ${y}`);
});

story('a gap stands in the list where the app came back, and leads to the tunnel', async (stage) => {
  const { hookmitt, ui, pane } = await hearing(stage, (now, listed) => {
    const early = gap(1, new Date(now - 9_000_000).toISOString(), new Date(now - 8_000_000).toISOString(), { caught_up: 3, last_seq: listed[18].seq });
    const late = gap(2, new Date(now - 7_000_000).toISOString(), new Date(now - 6_000_000).toISOString(), { caught_up: 5, why: 'network', last_seq: listed[4].seq });
    return { tunnels: [tunnel(now, { gap: late })], gaps: [late, early] };
  }, { events: 60 });
  const lines = ui.list.locator('.gap');
  await counts(lines, 2);
  await says(lines.first(), /^Back at \d\d:\d\d( on \w{3})?\. Offline .*\d\d:\d\d: 5 caught up, 0 lost Details$/);
  const seen = await standing(ui);
  assert.deepEqual([seen.gaps, seen.widest], [[28, 28], 0], 'lines of 28 px, and nothing overlaps');
  const described = await ui.rows.nth(4).evaluate((row) => document.getElementById(row.getAttribute('aria-describedby'))?.innerText);
  assert.match(described, /5\scaught\sup/, 'the row below says it to a screen reader');

  await ui.list.focus();
  for (let at = 0; at < 60; at += 1) await ui.page.keyboard.press('j');
  await says(ui.selected, '/order/0');
  const box = await ui.selected.evaluate((row) => row.getBoundingClientRect().bottom <= document.querySelector('[role=listbox]').getBoundingClientRect().bottom + 0.5);
  assert.ok(box, 'the last row is wholly in sight');
  await ui.scrollTo(0);
  await hookmitt.post('shop', { path: '/order/new', body: '{}' });
  await sees(ui.row('/order/new'));
  assert.equal((await standing(ui)).widest, 0);
  await lines.first().getByText('Details').click();
  await says(pane.getByRole('row').filter({ hasText: 'Network cut' }), '5');
});

story('among a few that fit a search, gaps are left out', async (stage) => {
  const { ui } = await hearing(stage, (now, listed) => {
    const one = gap(1, new Date(now - 7_000_000).toISOString(), new Date(now - 6_000_000).toISOString(), { caught_up: 1, last_seq: listed[1].seq });
    return { tunnels: [tunnel(now, { gap: one })], gaps: [one] };
  });
  await counts(ui.list.locator('.gap'), 1);
  await ui.search.fill('order');
  await ui.search.press('Enter');
  await ui.hasRows(3);
  await counts(ui.list.locator('.gap'), 0);
});

story('a tunnel is disconnected and connected again', async (stage) => {
  const { ui, pane } = await hearing(stage, three);
  await ui.go('#/tunnels/1');
  await ui.button('Disconnect', pane).click();
  await says(pane.getByRole('status'), /^Off since .*The relay stores what arrives, sealed/);
  await says(ui.page.getByRole('list', { name: 'Connection' }), 'smee channel limited');
  await ui.button('Connect', pane).click();
  await says(pane.getByRole('status'), /^Connecting to relay\.acme\.dev\./);
});

story('what is wrong with a new tunnel stands at its field', async (stage) => {
  const { ui, told } = await hearing(stage, () => ({ tunnels: [] }));
  ui.watch.forgive(/Failed to load resource/);
  await ui.go('#/tunnels');
  await says(ui.page.getByRole('region', { name: 'Tunnel', exact: true }), 'No tunnel yet', 'while this computer sleeps');
  await ui.button('Add a tunnel').click();
  const dialog = ui.page.getByRole('dialog');
  const field = (name) => dialog.getByLabel(name, { exact: true }).and(dialog.locator('input:not([type=radio])'));
  const isWrong = (name, words) => eventually(`${name} says ${words}`, async () =>
    (await field(name).getAttribute('aria-invalid')) === 'true' && words.test(await dialog.innerText()));
  const add = () => ui.button('Add', dialog).click();
  await add();
  await isWrong('Relay', /such as https/);
  await isWrong('Token', /only for holders of its tokens/);
  assert.equal(told.orders.length, 0, 'nobody was asked');
  await field('Relay').fill('http://relay.acme.dev');
  await field('Token').fill('hmr_wrong');
  told.refuse = { status: 400, code: 'relay-without-tls', detail: 'relay.acme.dev would be spoken to without TLS', hint: 'use https://' };
  await add();
  await isWrong('Relay', /without TLS/);
  told.orders.length = 0;

  await field('Relay').fill('relay.acme.dev');
  told.refuse = { status: 400, code: 'bad-token', detail: 'the relay does not know this token', hint: 'create one with `hookmitt relay token create`' };
  await add();
  await isWrong('Token', /does not know this token/);
  assert.deepEqual(told.orders, [{ relay: 'relay.acme.dev', token: 'hmr_wrong', name: null }], 'as it was typed');
  assert.equal(await field('Token').getAttribute('type'), 'password');
  told.refuse = { status: 502, code: 'relay-unreachable', detail: 'relay.acme.dev does not answer', hint: 'is the relay running?' };
  await add();
  await isWrong('Relay', /does not answer/);
  await hasNoBarriers(ui.page, 'the dialog with errors');
  for (const way of ['Invitation', 'smee channel', 'Quick URL']) {
    await ui.choose('Kind', way);
    await hasNoBarriers(ui.page, `the dialog: ${way}`);
  }
  await says(dialog, 'what is sent while this computer is offline is lost');
});

story('a source’s page and the first run show the URL that providers call, to be copied', async (stage) => {
  const url = 'https://relay.acme.dev/acme-dev/shop';
  const { ui } = await hearing(stage, three, { clipboard: true });
  await ui.go('#/settings/sources/shop');
  const urls = ui.page.getByRole('list', { name: 'Public URLs' });
  await says(urls, url);
  await ui.button('Copy the public URL', urls).first().click();
  await eventually('it is in the clipboard', async () => (await ui.clipboard()) === url);
  await ui.go('#/start');
  await says(urls, 'https://relay.acme.dev/acme-dev/');
});

story('without a tunnel the first run and the strip lead to one', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const ui = await stage.open(hookmitt);
  await says(ui.page.getByRole('list', { name: 'Connection' }), 'Relay not set up');
  await ui.page.getByRole('link', { name: 'Reach it from the internet: add a relay' }).click();
  await says(ui.page.getByRole('dialog'), 'Add a tunnel');
  await ui.page.keyboard.press('Escape');
  await gone(ui.page.getByRole('dialog'));
  await sees(ui.page.getByText('No tunnel yet'));
});

/** How many pixels the page is wider than the window. */
const sticksOut = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

story('however long the dates are, the gaps fit into a narrow window', async (stage) => {
  const hookmitt = await stage.hookmitt();
  for (const size of [[600, 800], [480, 800]]) {
    const ui = await stage.page(hookmitt, { size });
    await ui.page.clock.install();
    const told = await pretend(ui.page, three(Date.now()));
    await ui.page.goto(await hookmitt.freshUrl());
    await ui.ready();
    for (const time of ['2026-11-22T02:56', '2026-11-23T00:50', '2026-11-23T03:24', '2026-12-25T19:48']) {
      const now = Date.parse(time);
      await ui.page.clock.setFixedTime(now);
      Object.assign(told, three(now));
      await ui.page.reload();
      await ui.go('#/tunnels/1');
      await sees(ui.page.getByRole('row').nth(9));
      assert.ok(await sticksOut(ui.page) <= 0, `at ${time} and ${size[0]} px`);
    }
  }
});

for (const [theme, size] of [['dark', [1440, 900]], ['light', [1440, 900]], ['dark', [900, 700]], ['light', [600, 800]]]) {
  story(`the tunnels render in ${theme} at ${size.join('×')}, and axe-core finds nothing serious`, async (stage) => {
    const { ui, told, pane } = await hearing(stage, three, { theme, size });
    const look = async (screen) => {
      const wide = await sticksOut(ui.page);
      assert.ok(wide <= 0, `${screen} is ${wide} px too wide`);
      await hasNoBarriers(ui.page, screen);
    };
    await ui.go('#/tunnels');
    await sees(ui.page.getByRole('heading', { name: 'Tunnels' }));
    await look('the list of tunnels');
    for (const id of [1, 2, 3]) {
      await ui.go(`#/tunnels/${id}`);
      await sees(pane.getByText('Last 7 days'));
      await look(`tunnel ${id}`);
    }
    const error = { code: 'unknown-device', message: 'the relay does not know this device', hint: 'join again' };
    told.tunnels = [tunnel(Date.now(), { state: 'refused', why: 'denied', hindrance: 'denied', rtt_ms: null, error })];
    await ui.page.reload();
    await ui.go('#/tunnels/1');
    await says(pane, 'Refused by relay.acme.dev', 'The relay does not know this device.', 'Join again.', 'Add again');
    await look('a refused tunnel');
    told.tunnels = [tunnel(Date.now(), { stores: false, error: { code: 'disk-full', message: 'the disk is full', hint: 'free some space' } })];
    await ui.page.reload();
    await says(pane, 'with a problem', 'The disk is full.', 'Can’t store events now');
    await says(ui.page.getByRole('list', { name: 'Connection' }), 'relay.acme.dev problem', 'This app can’t store');
    await look('a tunnel with a problem');
  });
}
