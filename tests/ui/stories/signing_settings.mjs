// A sender's signing scheme is configured in the window: found, confirmed, filled in, shared.
import assert from 'node:assert/strict';

import { hasNoBarriers, says, sees } from '../support/see.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

const source = async (hookmitt, slug) => (await hookmitt.api.ask('GET', '/api/sources')).items.find((one) => one.slug === slug);

/** Opens the settings of a new source. */
async function settings(stage, provider, options) {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('in', provider ? { provider } : {});
  const ui = await stage.open(hookmitt, options);
  await ui.go('#/settings/sources/in');
  const main = ui.page.getByRole('main');
  const field = main.getByRole('combobox', { name: 'Provider', exact: true });
  await sees(field);
  return { hookmitt, ui, main, field, save: () => ui.button(/^Save/, main).last().click() };
}

story('a provider is found by typing, and it is said how sure its facts are', async (stage) => {
  const { hookmitt, ui, main, field, save } = await settings(stage);
  await field.click();
  await ui.page.keyboard.type('pay');
  await ui.page.getByRole('option', { name: 'PayPal' }).click();
  await says(main, /Confirmed by PayPal’s own code|Corroborated only/, 'Webhook ID');
  await main.getByRole('textbox', { name: 'Webhook ID' }).fill('WH-1');
  await save();
  await eventually('it is kept', async () => {
    const { provider, params } = await source(hookmitt, 'in');
    return provider === 'paypal' && params.webhook_id === 'WH-1';
  });
  await hasNoBarriers(ui.page, 'the settings of a source of PayPal’s');
});

story('a local test key is made, and its public half is there to be copied', async (stage) => {
  const { hookmitt, ui, main } = await settings(stage, 'discord', { clipboard: true });
  await says(main, 'Discord signs with a private key');
  await ui.button('Create a test key pair', main).click();
  await ui.button('Copy the public key', main).click();
  await eventually('it is in the clipboard', async () => /^[0-9a-f]{64}$/.test(await ui.clipboard()));
  await says(main.getByRole('row', { name: /test key/ }), 'readable');
  assert.ok(!(await ui.page.content()).includes('PRIVATE KEY'), 'the private half is not shown');
  assert.equal((await hookmitt.api.ask('GET', '/api/sources/in/test-key')).public[0].text, await ui.clipboard());
});

story('a public key is pasted with its line ends', async (stage) => {
  const { hookmitt, ui, main } = await settings(stage, 'paypal');
  await main.getByLabel('Public key').fill('-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----');
  await ui.button('Save', main).first().click();
  await eventually('it is kept', async () => (await hookmitt.api.ask('GET', '/api/secrets')).items.length === 1);
});

story('a signing scheme of one’s own is pasted, saved, and copied as it was shared', async (stage) => {
  const { hookmitt, ui, main, save } = await settings(stage, null, { clipboard: true });
  await main.getByRole('combobox', { name: /^Signature:/ }).click();
  await ui.page.getByRole('option', { name: /Custom scheme/ }).click();
  const shared = { hookmitt_scheme: 1, generic: { signature_header: 'X-Sig', algorithm: 'hmac-sha512', encoding: 'base64', prefix: 'v1=', signed_content: '{timestamp}.{body}', timestamp_header: 'X-Time', id_at: '/id' }, tolerance_s: 90 };
  await ui.button('Paste scheme', main).click();
  const dialog = ui.page.getByRole('dialog');
  await dialog.getByLabel('Scheme (JSON)').fill('{"secret":"x"}');
  await ui.button('Fill in', dialog).click();
  await says(dialog, 'no setting “secret”');
  await dialog.getByLabel('Scheme (JSON)').fill(JSON.stringify(shared));
  await ui.button('Fill in', dialog).click();
  await save();
  await eventually('it is kept', async () => (await source(hookmitt, 'in')).generic?.signature_header === 'X-Sig');
  assert.equal((await source(hookmitt, 'in')).tolerance_s, 90);
  await ui.button('Copy scheme', main).click();
  await eventually('it is in the clipboard', async () => (await ui.clipboard()).includes('X-Sig'));
  assert.deepEqual(JSON.parse(await ui.clipboard()), shared);
});

story('what the engine refuses of a scheme is said at its field, which gets the focus', async (stage) => {
  const { hookmitt, ui, main, save } = await settings(stage);
  ui.watch.forgive(/Failed to load resource.*400/);
  await main.getByRole('combobox', { name: /^Signature:/ }).click();
  await ui.page.getByRole('option', { name: /Custom scheme/ }).click();
  await says(main.getByRole('region', { name: 'Changes that are not saved' }), 'Name the header that carries the signature');
  const [header, content, time] = ['Signature header', 'Signed content', 'Timestamp header'].map((name) => main.getByRole('textbox', { name, exact: true }));
  await header.fill('X-Sig');
  await content.fill('{timestamp}.{bdy}');
  await save();
  await refused(ui, content, 'Unknown placeholder {bdy}');
  await content.fill('{timestamp}.{body}');
  await eventually('the field is fine again', async () => (await content.getAttribute('aria-invalid')) === null);
  await save();
  await refused(ui, time, 'The timestamp is signed, but its place isn’t set');
  await hasNoBarriers(ui.page, 'a scheme that was refused');
  await time.fill('X-Time');
  await save();
  await eventually('it is kept', async () => (await source(hookmitt, 'in')).generic?.timestamp_header === 'X-Time');
});

/** Checks that the field is marked, says why, and has the focus. */
async function refused(ui, field, why) {
  await eventually('the field is marked', async () => (await field.getAttribute('aria-invalid')) === 'true');
  await says(ui.page.locator(`[id="${await field.getAttribute('aria-describedby')}"]`), why);
  await eventually('it has the focus', () => field.evaluate((element) => element === document.activeElement));
}
