// Every screen in both themes and in a small window: rendered, readable, and accessible.
import assert from 'node:assert/strict';

import { focused, gone, hasNoBarriers, says, sees } from '../support/see.mjs';
import { seed } from '../support/inbox.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

const WIDE = [1440, 900];
const NARROW = [900, 700];
const TABS = [/^Overview/, /^Headers/, /^Body/, /^Signature/, /^Deliveries/];
const PAGES = ['sources', 'sources/stripe-test', 'general', 'about'];

/** Checks that nothing is wider than the window. */
async function fits(ui, screen) {
  const wide = await ui.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${screen} is ${wide} px too wide`);
}

/** Whether the page's background is dark. */
const isDark = (ui) => ui.page.evaluate(() => Number(/\d+/.exec(getComputedStyle(document.body).backgroundColor)[0]) < 60);

/** Goes through the screens of a filled inbox and calls `look` on each. */
async function tour(ui, { first, invalid, dead }, look) {
  await look('the inspector without a selection');
  for (const id of [invalid, dead, first]) {
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
