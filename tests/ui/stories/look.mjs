// Every screen in both themes and in a small window: rendered, readable, and accessible.
import assert from 'node:assert/strict';

import { focused, gone, hasNoBarriers, says, sees } from '../support/see.mjs';
import { isEven } from '../support/layout.mjs';
import { pretend, quick, smee, tunnel, week } from '../support/pretend.mjs';
import { seed } from '../support/inbox.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

const WIDE = [1440, 900];
const NARROW = [900, 700];
const TABS = [/^Overview/, /^Headers/, /^Body/, /^Signature/, /^Deliveries/];
const PAGES = ['sources', 'sources/stripe-test', 'general', 'retention', 'about'];

/** Checks that nothing is wider than the window. */
async function fits(ui, screen) {
  const wide = await ui.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${screen} is ${wide} px too wide`);
}

/** Whether the page's background is dark. */
const isDark = (ui) => ui.page.evaluate(() => Number(/\d+/.exec(getComputedStyle(document.body).backgroundColor)[0]) < 60);

/** Goes through the screens of a filled inbox and calls `look` on each. */
async function tour(ui, { first, invalid, changed, dead }, look) {
  await look('the inspector without a selection');
  for (const id of [invalid, changed, dead, first]) {
    await ui.go(`#/events/${id}`);
    await says(ui.panel, 'SHA-256');
    await look(`the overview of ${id}`);
  }
  for (const tab of TABS) {
    await ui.tab(tab);
    await look(`the tab ${tab}`);
  }
  for (const page of PAGES) {
    await ui.go(`#/settings/${page}`);
    await sees(ui.page.getByRole('main').getByRole('heading').first());
    await look(`settings/${page}`);
  }
}

for (const [theme, size] of [['dark', WIDE], ['light', WIDE], ['dark', NARROW], ['light', NARROW]]) {
  // A narrow window uses the same colours, so one theme is enough there.
  const examined = size === WIDE || theme === 'dark';
  const finds = examined ? ', and axe-core finds nothing serious' : '';
  story(`every screen renders in ${theme} at ${size.join('×')}${finds}`, async (stage) => {
    const hookmitt = await stage.hookmitt();
    const { servers, ...ids } = await seed(hookmitt.api, hookmitt.capture, [0, 0]);
    stage.leaves(() => Promise.all(servers.map((server) => server.stop().catch(() => {}))));
    const ui = await stage.open(hookmitt, { theme, size });
    await ui.hasRowsBeyond(8);
    assert.equal(await isDark(ui), theme === 'dark');
    await tour(ui, ids, async (screen) => {
      await fits(ui, screen);
      if (examined) await hasNoBarriers(ui.page, screen);
    });
  });
}

/** Opens a filled inbox whose page gets simulated tunnels, some of them with long names. */
async function withTunnels(stage) {
  const hookmitt = await stage.hookmitt();
  const { servers, ...ids } = await seed(hookmitt.api, hookmitt.capture, [0, 0]);
  stage.leaves(() => Promise.all(servers.map((server) => server.stop().catch(() => {}))));
  const now = Date.now();
  const [gap, ...gaps] = week(now, 0);
  const long = { label: 'cloudflared-billing-of-the-north', host: 'relay-of-a-company-with-a-long-name.acme.dev' };
  const waiting = { letters: 1204, bytes: 9_000_000, oldest_at: null };
  const ui = await stage.page(hookmitt, { size: WIDE });
  await pretend(ui.page, { tunnels: [tunnel(now, { gap, waiting }), smee(now), quick(now), tunnel(now, { id: 4, ...long })], gaps: [gap, ...gaps] });
  await ui.page.goto(await hookmitt.freshUrl());
  await ui.ready();
  await ui.hasRowsBeyond(8);
  return { ui, ids };
}

for (const width of [900, 1024, 1199, 1200, 1280, 1440]) {
  story(`at ${width} px nothing is cut beside free room, nothing overlaps, and edges are even`, async (stage) => {
    const { ui, ids } = await withTunnels(stage);
    await ui.page.setViewportSize({ width, height: 800 });
    await tour(ui, ids, (screen) => isEven(ui.page, screen));
    for (const [hash, words] of [['#/tunnels/1', 'Last 7 days'], ['#/tunnels/2', 'parses JSON'], ['#/tunnels/4', 'Last 7 days'], ['#/events?view=invalid', 'user.created']]) {
      await ui.go(hash);
      await sees(ui.page.getByText(words).first());
      await isEven(ui.page, hash);
    }
    if (width < 1200) await sees(ui.page.getByRole('contentinfo').getByText(/waiting/));
  });
}

for (const theme of ['dark', 'light']) {
  story(`the first run and the page without a code have no barriers: ${theme}`, async (stage) => {
    const hookmitt = await stage.hookmitt();
    const ui = await stage.page(hookmitt, { theme });
    await ui.page.goto(hookmitt.api.url);
    await says(ui.page.locator('body'), 'Open this page from hookmitt');
    await hasNoBarriers(ui.page, 'the page without a code');
    await ui.page.goto('about:blank');
    await ui.page.goto(await hookmitt.freshUrl());
    await sees(ui.page.getByRole('heading', { name: 'Ready to catch' }));
    await fits(ui, 'the first run');
    await hasNoBarriers(ui.page, 'the first run');
  });
}

story('below 900 px list and detail come one at a time, and Esc or an arrow goes back', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.post('shop', { body: '{"a":1}' });
  const ui = await stage.open(hookmitt, { size: [600, 800] });
  await ui.rows.first().click();
  await gone(ui.list);
  await sees(ui.button(/^Replay/, ui.detail));
  await ui.page.keyboard.press('Enter');
  await eventually('what is done most is at hand', async () => (await focused(ui.page)).name.startsWith('Replay'));
  await ui.page.keyboard.press('Escape');
  await sees(ui.list);
  await ui.rows.first().click();
  await ui.button('All events', ui.detail).click();
  await sees(ui.list);
});

story('with reduced motion nothing moves', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.post('shop', { body: '{"a":1}' });
  const ui = await stage.open(hookmitt, { motion: 'reduce' });
  await ui.rows.first().click();
  await sees(ui.detail);
  const moving = await ui.page.evaluate(() => document.getAnimations().filter((one) => one.playState === 'running' && one.effect.getComputedTiming().duration > 1).length);
  assert.equal(moving, 0);
});
