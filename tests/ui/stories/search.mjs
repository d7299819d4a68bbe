// The search: hookmitt understands it, and the page shows what it says.
import { equal } from 'node:assert/strict';

import { eventually } from '../support/wait.mjs';
import { counts, hasNoBarriers, says, sees } from '../support/see.mjs';
import { story } from '../support/stage.mjs';

/** An inbox with two orders and a greeting. */
async function opened(stage) {
  const hookmitt = await stage.hookmitt();
  const json = [['Content-Type', 'application/json']];
  await hookmitt.post('shop', { path: '/orders', headers: json, body: '{"order":"Acme 1","of":"acme"}' });
  await hookmitt.post('shop', { path: '/orders', headers: json, body: '{"order":"Acme 2"}' });
  await hookmitt.post('chat', { path: '/hello', headers: json, body: '{"say":"hi"}' });
  const ui = await stage.open(hookmitt);
  await ui.hasRows(3);
  return { hookmitt, ui };
}

const offers = (ui) => ui.page.getByRole('search').getByRole('option');

story('values that exist are offered while a search is typed, and Tab takes one', async (stage) => {
  const { ui } = await opened(stage);
  await eventually('the sources are in the index', async () => {
    await ui.search.fill('source:s');
    return (await offers(ui).count()) > 0;
  });
  await ui.search.pressSequentially('h');
  await says(offers(ui).first(), 'shop', '2');
  await hasNoBarriers(ui.page, 'suggestions');
  await ui.page.keyboard.press('Tab');
  await ui.hasRows(2);
  await sees(ui.button('Remove source:shop'));
  await ui.page.reload();
  await ui.hasRows(2);
  await ui.page.goBack();
  await ui.hasRows(3);
});

story('what comes in is listed if the search finds it', async (stage) => {
  const { hookmitt, ui } = await opened(stage);
  await ui.search.fill('acme');
  await ui.search.press('Enter');
  await ui.hasRows(2);
  await hookmitt.post('chat', { path: '/other', body: '{"say":"bye"}' });
  await hookmitt.post('chat', { path: '/acme', body: '{}' });
  await ui.hasRows(3);
  await sees(ui.row('/acme').locator('mark'));
});

story('a search has only what it finds counted, never all that was listed before', async (stage) => {
  const hookmitt = await stage.hookmitt();
  // More than the page reads at once: it counts a list that it read to its end itself.
  const posts = Array.from({ length: 400 }, (_, n) => n);
  while (posts.length > 0) await Promise.all(posts.splice(0, 20).map((n) => hookmitt.post('shop', { path: '/orders', body: `order ${n}` })));
  const ui = await stage.open(hookmitt);
  await ui.hasRowsBeyond(10);
  const counted = [];
  ui.page.on('request', (request) => { if (request.url().includes('/api/events/count?')) counted.push(new URL(request.url())); });
  await ui.go('#/events?q=is%3Aduplicate');
  await sees(ui.button('Remove is:duplicate'));
  await ui.go('#/events?q=path%3A%2Forders');
  await eventually('what is found was counted', async () => counted.length > 0);
  equal(counted.filter(({ searchParams }) => !searchParams.has('q')).length, 0);
});

story('F3 goes from match to match in the body, and begins again after the last', async (stage) => {
  const { ui } = await opened(stage);
  await ui.search.fill('acme -"Acme 2"');
  await ui.search.press('Enter');
  await ui.hasRows(1);
  await ui.select('/orders');
  await sees(ui.detail.getByRole('tab', { name: /^Body/ }));
  for (const place of ['1 of 2', '2 of 2', '1 of 2']) {
    await ui.page.keyboard.press('F3');
    await says(ui.panel, `${place} matches`);
  }
  await ui.page.keyboard.press('Shift+F3');
  await says(ui.panel, '2 of 2 matches');
  await hasNoBarriers(ui.page, 'marked matches');
});

story('a search is saved under a name, counted in the left pane, removed, and comes back with Undo', async (stage) => {
  const { ui } = await opened(stage);
  await ui.search.fill('source:shop');
  await ui.search.press('Enter');
  await ui.button('Save search').click();
  await ui.page.getByLabel('Name', { exact: true }).fill('Orders');
  await ui.page.keyboard.press('Enter');
  const link = ui.page.getByRole('link', { name: /^Orders/ });
  await says(link, '2');
  await link.focus();
  await ui.page.keyboard.press('Delete');
  await counts(link, 0);
  await ui.button(/^Undo/).click();
  await sees(link);
  await eventually('it is the one that is shown', async () => (await link.getAttribute('aria-current')) === 'page');
});
