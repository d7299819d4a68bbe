// Sources, secrets and targets are configured in the window.
import assert from 'node:assert/strict';

import { stripe } from '../support/samples.mjs';
import { gone, hasNoBarriers, says, sees } from '../support/see.mjs';
import { SECRETS, signed } from '../support/senders.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

const items = async (hookmitt, what) => (await hookmitt.api.ask('GET', `/api/${what}`)).items;

/** Makes a Stripe source with one event, and opens its settings. */
async function settings(stage, page = 'sources/shop', options = {}) {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('shop', { provider: 'stripe' });
  await hookmitt.post('shop', await signed('stripe', { body: stripe.charge(Date.now()) }));
  const ui = await stage.open(hookmitt, options);
  await ui.go(`#/settings/${page}`);
  const main = ui.page.getByRole('main');
  await sees(main.getByRole('heading').first());
  return { hookmitt, ui, main, dialog: ui.page.getByRole('dialog') };
}

story('a source is added and removed in settings', async (stage) => {
  const { hookmitt, ui, main, dialog } = await settings(stage, 'sources');
  await ui.button('Add a source', main).click();
  await dialog.getByRole('textbox', { name: 'Name' }).fill('billing');
  await ui.button('Add', dialog).click();
  await eventually('the source is kept', async () => (await items(hookmitt, 'sources')).some(({ slug }) => slug === 'billing'));
  await sees(main.getByRole('heading', { name: 'billing' }));
  await says(main, `${hookmitt.capture}/billing`);

  await ui.button('More', main).click();
  await ui.page.getByRole('menuitem', { name: 'Remove this source' }).click();
  await says(dialog, 'Remove the source billing?');
  await ui.button('Remove the source', dialog).click();
  await eventually('the source is gone', async () => (await items(hookmitt, 'sources')).every(({ slug }) => slug !== 'billing'));
  await gone(main.getByRole('heading', { name: 'billing' }));
});

story('a name that no source can have, or another has, is refused beside its field', async (stage) => {
  const { hookmitt, ui, main, dialog } = await settings(stage, 'sources');
  await ui.button('Add a source', main).click();
  const name = dialog.getByRole('textbox', { name: 'Name' });
  for (const wrong of ['-no', 'shop']) {
    await name.fill(wrong);
    await ui.button('Add', dialog).click();
    await eventually('the field is marked', async () => (await name.getAttribute('aria-invalid')) === 'true');
    await sees(dialog.getByRole('alert'));
  }
  assert.equal((await items(hookmitt, 'sources')).length, 1);
});

story('a secret is added in settings and judges what came before; removing it asks first', async (stage) => {
  const { hookmitt, ui, main, dialog } = await settings(stage);
  await main.getByLabel('Signing secret').fill(SECRETS.stripe);
  await main.getByRole('textbox', { name: 'Label' }).fill('Test mode');
  await ui.button('Save', main).first().click();
  await eventually('the secret is kept', async () => (await items(hookmitt, 'secrets')).length === 1);
  await eventually('the event is valid now', async () => (await hookmitt.api.events())[0].verdict === 'valid');
  await says(main.getByRole('row', { name: /Test mode/ }), 'file, unencrypted', 'readable');
  assert.ok(!(await ui.page.content()).includes(SECRETS.stripe), 'the value is not shown again');

  await ui.button('Remove', main.getByRole('row', { name: /Test mode/ })).click();
  await says(dialog, 'Remove the secret Test mode?', 'It can’t be brought back');
  await ui.button('Remove the secret', dialog).click();
  await eventually('the secret is gone', async () => (await items(hookmitt, 'secrets')).length === 0);
});

story('the provider that the first valid event sets is shown with that event, and undone', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('shop', {});
  await hookmitt.api.secret('shop', SECRETS.stripe);
  await hookmitt.post('shop', await signed('stripe', { body: stripe.charge(Date.now()) }));
  const provider = async () => (await items(hookmitt, 'sources'))[0].provider;
  await eventually('the event sets it', async () => (await provider()) === 'stripe');
  const ui = await stage.open(hookmitt);
  await ui.go('#/settings/sources/shop');
  const main = ui.page.getByRole('main');
  const link = main.getByRole('link', { name: 'the first valid event' });
  const [event] = await hookmitt.api.events();
  assert.ok((await link.getAttribute('href')).includes(event.id));
  await ui.button('Undo', main).click();
  await gone(link);
  await ui.button(/^Save/, main).last().click();
  await eventually('it is undone', async () => (await provider()) === null);
  await hookmitt.post('shop', await signed('stripe', { body: stripe.charge(Date.now()) }));
  assert.equal(await provider(), null);
});

story('a target is added, paused, resumed and removed in settings; removing can be undone', async (stage) => {
  const { hookmitt, ui, main } = await settings(stage);
  const server = await stage.server();
  const place = `127.0.0.1:${server.port}/hooks`;
  const choose = async (command) => {
    await ui.button(`Actions for ${place}`, main).click();
    await ui.page.getByRole('menuitem', { name: command }).click();
  };
  await ui.button('Add a target', main).click();
  await main.getByRole('textbox', { name: 'URL', exact: true }).fill(place);
  await says(main, `port ${server.port} answers`);
  await ui.button('Add the target', main).click();
  const row = main.getByRole('row', { name: new RegExp(place) });
  await says(row, 'Up');

  await choose('Pause');
  await says(row, 'Paused');
  assert.ok((await items(hookmitt, 'targets'))[0].paused);
  await ui.button('Resume', row).click();
  await says(row, 'Up');

  await choose('Remove');
  await gone(row);
  await ui.page.getByRole('button', { name: /^Undo/ }).click();
  await says(row, 'Up');
  await choose('Remove');
  await gone(row);
  await ui.page.goto('about:blank'); // who leaves the page doesn't want to undo any more
  await eventually('the target is gone', async () => (await items(hookmitt, 'targets')).length === 0);
});

story('a target that is hookmitt itself is refused beside its field', async (stage) => {
  const { hookmitt, ui, main } = await settings(stage);
  ui.watch.forgive(/Failed to load resource.*400/);
  await ui.button('Add a target', main).click();
  await main.getByRole('textbox', { name: 'URL', exact: true }).fill(hookmitt.capture);
  await ui.button('Add the target', main).click();
  await sees(main.getByRole('alert'));
  assert.equal((await items(hookmitt, 'targets')).length, 0);
});

story('what a source answers is changed and saved in settings', async (stage) => {
  const { hookmitt, ui, main } = await settings(stage);
  await main.getByRole('textbox', { name: /status/i }).fill('202');
  await ui.button(/^Save/, main).last().click();
  await eventually('it is kept', async () => (await items(hookmitt, 'sources'))[0].answer?.status === 202);
  assert.equal((await hookmitt.post('shop', { body: 'x' })).status, 202);
});

story('a source is told in settings that the local server answers, and then it does', async (stage) => {
  const { hookmitt, ui, main } = await settings(stage);
  const server = await stage.server();
  server.answer = () => ({ status: 200, body: 'from the local server' });
  await hookmitt.api.target('shop', server.url);
  await ui.choose('Who answers', 'The local server');
  await says(main, /The first answer from a target within 2.5 s/);
  await ui.button(/^Save/, main).last().click();
  await eventually('it is kept', async () => (await items(hookmitt, 'sources'))[0].answer?.respond === 'app');
  const reply = await hookmitt.post('shop', { body: 'x' });
  assert.equal(reply.body.toString(), 'from the local server');

  await ui.choose('Who answers', 'Not set');
  await ui.button(/^Save/, main).last().click();
  await eventually('it is left to hookmitt', async () => (await items(hookmitt, 'sources'))[0].answer?.respond === null);
  assert.match((await hookmitt.post('shop', { body: 'y' })).body.toString(), /"received":true/);
});

story('the theme is chosen in settings and kept', async (stage) => {
  const { ui } = await settings(stage, 'general');
  const theme = () => ui.page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), 'dark');
  await ui.choose('Theme', 'Light');
  await eventually('it is light', async () => (await theme()) === 'light');
  await ui.page.reload();
  await eventually('it is still light', async () => (await theme()) === 'light');
});

story('“About” says that all is well, and its diagnostics hold no secret', async (stage) => {
  const { hookmitt, ui, main } = await settings(stage, 'about', { clipboard: true });
  await hookmitt.api.secret('shop', SECRETS.stripe);
  await says(main, hookmitt.dataDir);
  await ui.button('Copy diagnostics', main).click();
  const text = await eventually('the clipboard holds them', async () => {
    const copied = await ui.clipboard();
    return copied.includes(hookmitt.capture) && copied;
  });
  assert.ok(!text.includes(SECRETS.stripe));
});

story('how long events are kept is changed in settings, and what is no time is refused at its field', async (stage) => {
  const { hookmitt, ui, main } = await settings(stage, 'retention');
  const failed = main.getByLabel('Failed', { exact: true });
  await failed.fill('soon');
  await says(main, 'Write it like 12h, 7d or never.');
  await failed.fill('never');
  await main.getByLabel('Size limit').fill('2.5');
  await main.getByText('Delete the oldest').click();
  await ui.button('Save', main).click();
  const kept = () => hookmitt.api.ask('GET', '/api/retention');
  await eventually('it is kept', async () => (await kept()).keep.failed === 'never');
  const { size_limit, when_full } = await kept();
  assert.deepEqual([size_limit, when_full], [2_500_000_000, 'prune']);
});

story('a source keeps its events for times of its own, until it is as all sources again', async (stage) => {
  const { hookmitt, ui, main } = await settings(stage, 'retention');
  const own = async () => (await hookmitt.api.ask('GET', '/api/retention')).sources;
  await says(main, 'All sources keep their events for the times above');
  await ui.button('Add a source', main).click();
  await ui.page.getByRole('menuitem', { name: 'shop' }).click();
  const row = main.getByRole('group', { name: 'shop' });
  const failed = row.getByLabel('Failed');
  await eventually('the first field has the focus', () => row.getByLabel('Captured').evaluate((field) => field === document.activeElement));
  await failed.fill('soon');
  await says(row, 'Write it like 12h, 7d or never.');
  await failed.fill('90d');
  await row.getByLabel('Completed').fill('1d');
  await hasNoBarriers(ui.page, 'times of a source');
  await says(main, '2 changes', 'deleted for good');
  await ui.button('Save', main).click();
  await eventually('they are kept', async () => (await own()).shop?.failed === '90d');
  assert.deepEqual(await own(), { shop: { completed: '1d', failed: '90d' } });
  await gone(ui.button('Save', main));

  await row.getByLabel('Completed').fill('');
  await ui.page.keyboard.press('Control+s');
  await eventually('one is taken back', async () => (await own()).shop?.completed === undefined);
  await ui.button('Keep shop as all sources', row).click();
  await ui.button('Save', main).click();
  await eventually('all are taken back', async () => Object.keys(await own()).length === 0);
});
