// The list while much happens, nothing happens, or the connection is lost.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { gone, says, sees } from '../support/see.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

/** Posts this many plain events, several at a time. */
async function stream(hookmitt, count, name = 'busy') {
  const one = (number) => hookmitt.post(name, { path: `/${number}`, headers: [['Content-Type', 'application/json']], body: `{"number":${number}}` });
  for (let begun = 0; begun < count; begun += 10) {
    await Promise.all(Array.from({ length: Math.min(10, count - begun) }, (_, at) => one(begun + at)));
  }
}

const topOf = async (locator) => (await locator.boundingBox())?.y;

story('selection and scroll position stay while 200 events stream in, and a pill counts them', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 80, 'early');
  const ui = await stage.open(hookmitt);
  await sees(ui.rows.first());
  await ui.scrollTo(900);
  await gone(ui.row(/\/79(?!\d)/));
  const name = '/early/40';
  const kept = ui.row(new RegExp(`${name}(?!\\d)`));
  await kept.click();
  await eventually('it is selected', async () => (await kept.getAttribute('aria-selected')) === 'true');
  const before = await topOf(kept);

  await stream(hookmitt, 200);

  await sees(ui.button(/^200 new/));
  assert.equal(await topOf(kept), before, 'the row has moved');
  assert.equal(await kept.getAttribute('aria-selected'), 'true');
  await says(ui.detail, name);

  await ui.button(/^200 new/).click();
  await sees(ui.row(/\/busy\//).first());
  await gone(ui.button(/ new/));
  await says(ui.detail, name);
});

story('at the top, new events appear by themselves and the selection stays on its event', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 3, 'early');
  const ui = await stage.open(hookmitt);
  await ui.select('/early/1');
  await stream(hookmitt, 5);
  await ui.hasRows(8);
  await says(ui.selected, '/early/1');
  await says(ui.detail, '/early/1');
});

story('paused with Space, events wait behind the pill; “.” goes to the newest', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 3, 'early');
  const ui = await stage.open(hookmitt);
  await ui.hasRows(3);
  await ui.list.focus();
  await ui.page.keyboard.press('Space');
  await sees(ui.page.getByText('Paused', { exact: true }));
  await stream(hookmitt, 4);
  await sees(ui.button(/^4 new/));
  await ui.hasRows(3);
  await ui.page.keyboard.press('.');
  await ui.hasRows(7);
});

story('a search that fits nothing says so, and offers the way back', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 3, 'early');
  const ui = await stage.open(hookmitt);
  await ui.search.fill('nothing-is-called-so');
  await ui.search.press('Enter');
  await sees(ui.page.getByText('No event matches'));
  await ui.button(/^Clear/).first().click();
  await ui.hasRows(3);
});

story('a view without events says what would be here', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 1, 'early');
  const ui = await stage.open(hookmitt);
  await ui.page.getByRole('link', { name: /^Dead letters/ }).click();
  await sees(ui.page.getByText(/No dead letters/i));
});

story('views and sources filter the list', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 2, 'early');
  await stream(hookmitt, 3, 'late');
  const ui = await stage.open(hookmitt);
  await ui.hasRows(5);
  await ui.page.getByRole('link', { name: /^early/ }).click();
  await ui.hasRows(2);
  await hookmitt.post('late', { body: 'x' });
  await hookmitt.post('early', { body: 'x' });
  await ui.hasRows(3);
  await ui.page.getByRole('link', { name: /^All events/ }).click();
  await ui.hasRows(7);
});

story('while a slow list loads, bones of its height stand there', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 3, 'early');
  const ui = await stage.page(hookmitt);
  let let_go;
  const held = new Promise((resolve) => { let_go = resolve; });
  await ui.page.route('**/api/events?*', async (route) => {
    await held;
    await route.continue();
  });
  await ui.page.goto(await hookmitt.freshUrl());
  await sees(ui.page.getByRole('status', { name: 'Loading' }).first());
  let_go();
  await ui.hasRows(3);
});

story('a list that can’t be read says what is safe and what to do', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 3, 'early');
  const ui = await stage.page(hookmitt);
  ui.watch.forgive(/Failed to load resource/);
  let broken = true;
  const problem = { type: 'about:blank', status: 500, code: 'inbox', detail: 'the inbox could not be read', hint: 'look at the log' };
  await ui.page.route('**/api/events?*', (route) => (broken ? route.fulfill({ status: 500, contentType: 'application/problem+json', json: problem }) : route.continue()));
  await ui.page.goto(await hookmitt.freshUrl());
  await says(ui.page.getByRole('alert'), /inbox/);
  broken = false;
  await ui.button('Try again').click();
  await ui.hasRows(3);
});

story('a cut line is said, and what was missed is caught up without a reload', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 3, 'early');
  const line = await stage.line();
  const ui = await stage.open(hookmitt, { proxy: line.url });
  ui.watch.forgive(/ERR_|Failed to load resource/);
  await ui.select('/early/1');
  await ui.page.evaluate(() => { window.sameP = true; });

  await line.cut();
  await sees(ui.page.getByText(/not connected/i).first());
  await stream(hookmitt, 250);
  await line.mend();

  await ui.hasRowsBeyond(20);
  await sees(ui.row('/busy/249'));
  await gone(ui.page.getByText(/not connected/i).first());
  assert.equal(await ui.page.evaluate(() => window.sameP), true, 'it was not reloaded');
  await says(ui.detail, '/early/1');
});

story('a page that lagged is told so, and reads what it missed anew', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 3, 'early');
  const line = await stage.line();
  const ui = await stage.open(hookmitt, { proxy: line.url });
  await ui.select('/early/1');
  line.swallow();
  await stream(hookmitt, 5, 'late');
  await eventually('all were told', async () => [0, 1, 2, 3, 4].every((number) => line.swallowed.includes(`/${number}"`)));
  await ui.hasRows(3);
  line.tell(5);
  await ui.hasRows(8);
  await sees(ui.page.getByRole('link', { name: /^late/ }));
  await says(ui.selected, '/early/1');
  await sees(ui.page.getByText('Live', { exact: true }).first());
});

story('when hookmitt ends, the page says so; started again, it catches up without a reload', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 3, 'early');
  const ui = await stage.open(hookmitt);
  ui.watch.forgive(/ERR_|Failed to load resource/);
  await ui.hasRows(3);
  await hookmitt.stop('SIGKILL');
  await sees(ui.page.getByText(/not connected/i).first());
  await hookmitt.startAgain();
  await stream(hookmitt, 2, 'late');
  await ui.hasRows(5);
  await sees(ui.page.getByText('Live', { exact: true }).first());
});

story("a screen whose code doesn't come says so, and is there after a reload", async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 3, 'early');
  const ui = await stage.open(hookmitt);
  ui.watch.forgive(/ERR_|Failed to load resource|Failed to fetch dynamically/);
  await ui.hasRows(3);
  const isLater = (url) => /Tunnels|DialogBox/.test(url.pathname);
  await ui.page.route(isLater, (route) => route.abort());
  await ui.page.keyboard.press('?');
  await sees(ui.page.getByText(/This part couldn't be loaded/));
  await ui.page.getByRole('link', { name: 'Tunnels' }).first().click();
  await sees(ui.page.getByText("This part of the page couldn't be loaded."));
  await ui.page.unroute(isLater);
  await ui.page.getByRole('button', { name: 'Reload' }).first().click();
  await sees(ui.page.getByText('No tunnel yet'));
});

story('when the token was changed meanwhile, the page says how to come back', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 3, 'early');
  const ui = await stage.open(hookmitt);
  ui.watch.forgive(/ERR_|Failed to load resource/);
  await ui.hasRows(3);
  await hookmitt.stop('SIGKILL');
  rmSync(join(hookmitt.dataDir, 'token'));
  await hookmitt.startAgain();
  await sees(ui.page.getByText(/Open this page from hookmitt/));
  await ui.page.goto('about:blank');
  await ui.page.goto(await hookmitt.freshUrl());
  await ui.hasRows(3);
});

story('the scroll bar leads to the end of a list of which only the beginning was read', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await stream(hookmitt, 1_200);
  const ui = await stage.open(hookmitt);
  await sees(ui.row(/\/1199(?!\d)/));
  await sees(ui.page.getByText('1,200').first());
  await eventually('the list is as long as it will be', () => ui.list.evaluate((list) => list.scrollHeight > 1_000 * 28));
  await ui.list.evaluate((list) => { list.scrollTop = list.scrollHeight; });
  await sees(ui.row(/\/0(?!\d)/));
  await eventually('it knows that it has ended', async () => (await ui.rows.first().getAttribute('aria-setsize')) === '1200');
  await ui.list.evaluate((list) => { list.scrollTop = list.scrollHeight / 2; });
  await sees(ui.row(/\/599(?!\d)/));
});
