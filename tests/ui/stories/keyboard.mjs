// Everything works with the keyboard: no story here uses the mouse.
import assert from 'node:assert/strict';

import { stripe } from '../support/samples.mjs';
import { focused, gone, says, sees } from '../support/see.mjs';
import { SECRETS, signed } from '../support/senders.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

async function filled(stage) {
  const [hookmitt, server] = [await stage.hookmitt(), await stage.server()];
  await hookmitt.api.source('shop', { provider: 'stripe' });
  await hookmitt.api.secret('shop', SECRETS.stripe);
  await hookmitt.api.target('shop', server.url);
  for (const body of [stripe.charge, stripe.intent, stripe.refund]) {
    await hookmitt.post('shop', await signed('stripe', { body: body(Date.now()) }));
  }
  await server.waitFor(3);
  return { hookmitt, server };
}

const isOpen = (ui, name) => eventually(`the tab ${name} is open`, async () =>
  (await ui.detail.getByRole('tab', { name }).getAttribute('aria-selected')) === 'true');

story('keyboard only: look through the list, open tabs, replay, search, and come back', async (stage) => {
  const { hookmitt, server } = await filled(stage);
  const ui = await stage.open(hookmitt);
  const keys = ui.page.keyboard;
  await ui.hasRows(3);

  await keys.press('j');
  await says(ui.selected, 'charge.refunded');
  await keys.press('j');
  await says(ui.selected, 'payment_intent.succeeded');
  await keys.press('ArrowDown');
  await says(ui.selected, 'charge.succeeded');
  await keys.press('k');
  await says(ui.selected, 'payment_intent.succeeded');

  await keys.press('Enter');
  await focused(ui.page);
  await says(ui.detail, 'payment_intent.succeeded');
  for (const [key, name] of [['2', /^Headers/], ['3', /^Body/], ['4', /^Signature/], ['5', /^Deliveries/], ['1', /^Overview/]]) {
    await keys.press(key);
    await isOpen(ui, name);
  }

  await keys.press('r');
  await server.waitFor(4);
  assert.equal(JSON.parse(server.seen[3].body).type, 'payment_intent.succeeded');

  await keys.press('/');
  await eventually('the search has the focus', () => ui.search.evaluate((field) => field === document.activeElement));
  await keys.type('verdict:wrong');
  await keys.press('Enter');
  await says(ui.page.getByRole('alert'), 'No verdict is called ‘wrong’');
  assert.ok(await ui.search.evaluate((field) => field === document.activeElement), 'a mistake is corrected where it is');
  for (let letter = 0; letter < 'verdict:wrong'.length; letter += 1) await keys.press('Backspace');
  await keys.type('succeeded');
  await keys.press('Enter');
  await ui.hasRows(2);
  await keys.press('j');
  await says(ui.selected, 'charge.succeeded');
  await keys.press('k');
  await says(ui.selected, 'payment_intent.succeeded');
  await keys.press('r');
  await server.waitFor(5);
  await keys.press('Escape');
  await ui.hasRows(3);
  await keys.press('/');
  await keys.press('Escape');
  assert.equal((await focused(ui.page)).role, 'option');

  await keys.press('?');
  const sheet = ui.page.getByRole('dialog');
  const listed = ['Search', 'Replay re-signed Shift R', 'Copy as curl', 'Forward what was skipped'];
  await says(sheet, ...listed);
  await keys.press('Escape');
  await gone(sheet);
  await ui.go('#/settings/general');
  await says(ui.page.getByRole('main'), 'Changes apply immediately', ...listed);
});

story('keyboard only: every stop of Tab is seen and has a name', async (stage) => {
  const { hookmitt } = await filled(stage);
  const ui = await stage.open(hookmitt);
  await ui.hasRows(3);
  await ui.page.keyboard.press('j');
  await sees(ui.detail.getByRole('tab', { name: /^Overview/ }));
  await ui.page.evaluate(() => { document.activeElement?.blur(); });
  const stops = [];
  for (let at = 0; at < 60; at += 1) {
    await ui.page.keyboard.press('Tab');
    if (await ui.page.evaluate(() => document.activeElement === document.body)) break;
    const stop = await focused(ui.page);
    assert.notEqual(stop.name, '', `a ${stop.role} without a name`);
    stops.push(`${stop.role} ${stop.name}`);
  }
  assert.ok(stops.length >= 10 && stops.length < 60, stops.join('\n'));
  const order = ['option', 'tab '].map((role) => stops.findIndex((stop) => stop.startsWith(role)));
  assert.ok(order[0] >= 0 && order[0] < order[1], `the list comes before the tabs:\n${stops.join('\n')}`);
  assert.equal(stops.filter((stop) => stop.startsWith('option')).length, 1, 'the list is one stop');
});

story('keyboard only: F6 goes from pane to pane', async (stage) => {
  const { hookmitt } = await filled(stage);
  const ui = await stage.open(hookmitt);
  await ui.hasRows(3);
  await ui.page.keyboard.press('j');
  await sees(ui.detail);
  const seen = new Set();
  for (let at = 0; at < 4; at += 1) {
    await ui.page.keyboard.press('F6');
    seen.add(await ui.page.evaluate(() => {
      const pane = document.activeElement.closest('nav, [role=listbox], [role=region], section, aside, main');
      return pane?.getAttribute('aria-label') ?? pane?.tagName;
    }));
    await focused(ui.page);
  }
  assert.ok(seen.size >= 3, [...seen].join(', '));
});

story('keyboard only: single keys do nothing inside a field', async (stage) => {
  const { hookmitt, server } = await filled(stage);
  const ui = await stage.open(hookmitt);
  await ui.hasRows(3);
  await ui.page.keyboard.press('j');
  await ui.page.keyboard.press('/');
  await ui.page.keyboard.type('r2j?');
  assert.match(await ui.search.inputValue(), /r2j\?/);
  assert.equal(server.seen.length, 3);
  assert.equal(await ui.page.getByRole('dialog').count(), 0);
});
