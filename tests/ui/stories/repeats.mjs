// Repeats are folded away beneath their first event, and come out by key or mouse.
import assert from 'node:assert/strict';

import { isEven } from '../support/layout.mjs';
import { stripe } from '../support/samples.mjs';
import { counts, gone, hasNoBarriers, says, sees } from '../support/see.mjs';
import { SECRETS, signed } from '../support/senders.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

/**
 * A shop whose `invoice.paid` came three times, the third time with other bytes, and another event between the first two.
 * `target` is where its events go, if anywhere.
 */
async function shop(stage, target) {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('shop', { provider: 'stripe' });
  await hookmitt.api.secret('shop', SECRETS.stripe);
  if (target) await hookmitt.api.target('shop', target.url);
  const now = Date.now();
  const send = async (body) => hookmitt.post('shop', await signed('stripe', { body }));
  const again = (options) => send(stripe.invoicePaid(now, options));
  await send(stripe.charge(now));
  await again();
  await send(stripe.refund(now));
  await again();
  await again({ pending: 1 });
  return { hookmitt, again };
}

/** Waits until the rows begin with these words, in order. */
const rowsAre = (ui, ...words) => eventually(`the rows are ${words.join(', ')}`, async () => {
  const texts = await ui.rows.allTextContents();
  return texts.length === words.length && words.every((word, at) => texts[at].includes(word));
});

const topOf = async (locator) => (await locator.boundingBox())?.y;

story('keyboard only: → shows repeats beneath their first, ← folds them away and goes back to it', async (stage) => {
  const { hookmitt } = await shop(stage);
  const ui = await stage.open(hookmitt);
  const keys = ui.page.keyboard;
  await rowsAre(ui, 'charge.refunded', '×3', 'charge.succeeded');
  await keys.press('j');
  await keys.press('ArrowRight');
  await keys.press('j');
  await says(ui.selected, 'invoice.paid', '×3');
  await sees(ui.list.getByRole('option', { name: /received 3 times, not all the same, repeats folded away/ }));

  await keys.press('ArrowRight');
  await rowsAre(ui, 'charge.refunded', '×3', 'Duplicate', 'Duplicate', 'charge.succeeded');
  await sees(ui.list.getByRole('option', { name: /repeats shown below/ }));
  await counts(ui.list.getByRole('option', { name: /Its bytes differ from the first/ }), 1);
  await counts(ui.list.getByRole('option', { name: /Bytes of a repeat differ/ }), 0);
  await says(ui.selected, '×3');
  await hasNoBarriers(ui.page, 'repeats beneath their first');
  await keys.press('ArrowDown');
  await keys.press('ArrowDown');
  await says(ui.selected, 'Duplicate');
  await says(ui.panel, 'This event', '1 value differs');

  await ui.list.focus();
  await keys.press('ArrowLeft');
  await rowsAre(ui, 'charge.refunded', '×3', 'charge.succeeded');
  await says(ui.selected, '×3');
  await keys.press('ArrowLeft');
  await says(ui.selected, '×3');
});

for (const [width, lines] of [[1440, 'one line'], [900, 'two lines']]) {
  story(`a click on the arrow beside ×3 shows the repeats and folds them away, in rows of ${lines}`, async (stage) => {
    const { hookmitt, again } = await shop(stage);
    const ui = await stage.open(hookmitt, { size: [width, 800] });
    await ui.list.getByTitle('Show the repeats').click();
    await rowsAre(ui, 'charge.refunded', '×3', 'Duplicate', 'Duplicate', 'charge.succeeded');
    await counts(ui.selected, 0);
    await isEven(ui.page, 'repeats beneath their first');
    const [first, repeat] = await Promise.all(['×3', 'Duplicate'].map((text) => ui.row(text).first().getByText('invoice.paid').boundingBox()));
    assert.ok(repeat.x > first.x, 'a repeat is indented');

    await again();
    await rowsAre(ui, 'charge.refunded', '×4', 'Duplicate', 'Duplicate', 'Duplicate', 'charge.succeeded');
    await ui.row('Duplicate').last().click();
    await ui.list.getByTitle('Fold the repeats away').click();
    await rowsAre(ui, 'charge.refunded', '×4', 'charge.succeeded');
    await says(ui.selected, '×4');
  });
}

story('repeats are rows like any other once folding is switched off, also after a reload', async (stage) => {
  const { hookmitt } = await shop(stage);
  const ui = await stage.open(hookmitt);
  await ui.hasRows(3);
  await ui.go('#/settings/general');
  await ui.choose('Repeats in the list', 'Listed');
  await ui.page.reload();
  await ui.go('#/events');
  await rowsAre(ui, 'Duplicate', 'Duplicate', 'charge.refunded', '×3', 'charge.succeeded');
  await counts(ui.list.getByTitle('Show the repeats'), 0);
  await ui.button('How the list looks').click();
  await ui.page.getByRole('menuitemcheckbox', { name: 'Fold repeats' }).click();
  await ui.hasRows(3);
});

story('a repeat that is linked, or searched for, is listed', async (stage) => {
  const server = await stage.server();
  const { hookmitt } = await shop(stage, server);
  await server.waitFor(3);
  const newest = await hookmitt.api.event('last');
  const ui = await stage.open(hookmitt);
  await ui.hasRows(3);
  await ui.go(`#/events/${newest.id}`);
  await rowsAre(ui, 'charge.refunded', '×3', 'Duplicate', 'Duplicate', 'charge.succeeded');
  await says(ui.selected, 'Duplicate');

  await ui.search.fill('status:skipped');
  await ui.search.press('Enter');
  await rowsAre(ui, 'Duplicate', 'Duplicate');
  await ui.go('#/events');
  await ui.search.press('Escape');
  await ui.hasRows(3);
});

story('a repeat that is sent itself, because the first one failed, is a row of its own', async (stage) => {
  const server = (await stage.server()).will(500, 500);
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('shop', { provider: 'stripe' });
  await hookmitt.api.secret('shop', SECRETS.stripe);
  await hookmitt.api.target('shop', server.url, { attempts: 1 });
  const ui = await stage.open(hookmitt);
  const body = stripe.invoicePaid(Date.now());
  const send = async () => hookmitt.post('shop', await signed('stripe', { body }));
  await send();
  await says(ui.row('invoice.paid'), 'Dead letter');
  await send();
  await rowsAre(ui, 'Duplicate', '×2');
  await says(ui.row('Duplicate'), 'Dead letter');
  await send();
  await says(ui.rows.first(), 'Duplicate', '200');
  await send();
  await says(ui.row('×4'), 'Dead letter');
  await ui.row('×4').getByTitle('Show the repeats').click();
  await rowsAre(ui, 'Duplicate', 'Duplicate', '×4', 'Duplicate');
  await says(ui.rows.last(), 'Skipped');
});

story('a new repeat moves no row while the list is scrolled, and counts as no new event', async (stage) => {
  const { hookmitt, again } = await shop(stage);
  for (let number = 0; number < 60; number += 1) await hookmitt.post('busy', { path: `/${number}`, body: String(number) });
  const ui = await stage.open(hookmitt);
  await ui.hasRowsBeyond(20);
  await ui.list.focus();
  await ui.page.keyboard.press('End');
  await eventually('it was read to its end', async () => (await ui.row('charge.succeeded').count()) === 1);
  const kept = ui.row('charge.refunded');
  const before = await topOf(kept);
  await again();
  await says(ui.row('×4'), 'invoice.paid');
  assert.equal(await topOf(kept), before, 'a row has moved');
  await gone(ui.button(/ new$/));

  await ui.row('×4').getByTitle('Show the repeats').click();
  await counts(ui.row('Duplicate'), 3);
  await again();
  await sees(ui.button(/^1 new/));
  await counts(ui.row('Duplicate'), 3);
  await ui.button(/^1 new/).click();
  await gone(ui.button(/ new$/));
});

story('the repeats of a deleted first stand for themselves until it is restored', async (stage) => {
  const { hookmitt } = await shop(stage);
  const ui = await stage.open(hookmitt);
  await ui.select('×3');
  await says(ui.panel, 'Received 3 times');
  await ui.page.keyboard.press('Delete');
  await rowsAre(ui, 'Duplicate', 'Duplicate', 'charge.refunded', 'charge.succeeded');
  await ui.page.reload();
  await rowsAre(ui, 'Duplicate', 'Duplicate', 'charge.refunded', 'charge.succeeded');
  const [repeat] = await hookmitt.api.events();
  await hookmitt.api.ask('POST', `/api/events/${repeat.duplicate_of}/restore`);
  await rowsAre(ui, 'charge.refunded', '×3', 'charge.succeeded');
});
