// The settings of a source: who signs and how, and what it answers.
import { LOOK, NARROW, PHONE, WIDE, picture, settle } from '../support/picture.mjs';
import { sees } from '../support/see.mjs';

/** A signing scheme that the catalogue doesn't have, and set-up requests with what is left to do. */
export async function signing(stage) {
  const hookmitt = await stage.hookmitt();
  const generic = { signature_header: 'X-Greenhouse-Signature', algorithm: 'hmac-sha256', encoding: 'hex', format: 'fields', version: 'v1', signed_content: '{timestamp}.{body}', timestamp_header: 'X-Greenhouse-Time', id_at: '/id', title_at: '/title' };
  await hookmitt.api.source('greenhouse', { generic });
  await hookmitt.api.source('tasks', { provider: 'asana' });
  await hookmitt.post('tasks', { body: '{}', headers: [['X-Hook-Secret', 'b537207f20cbfa02357cf448134da559'], ['Content-Type', 'application/json']] });
  const [{ id }] = await hookmitt.api.events();
  const ui = await stage.open(hookmitt, LOOK);
  for (const theme of ['dark', 'light']) {
    await settle(ui, theme);
    await ui.go('#/settings/sources/greenhouse');
    const content = ui.page.getByRole('textbox', { name: 'Signed content' });
    await sees(content);
    await picture(ui, `own-scheme-${theme}`);
    await ui.page.getByLabel(/^Algorithm:/).click();
    await picture(ui, `select-${theme}`);
    await ui.page.keyboard.press('Escape');
    await ui.page.getByLabel('Provider', { exact: true }).click();
    await picture(ui, `provider-list-${theme}`);
    await ui.page.keyboard.press('Escape');
    await content.fill('{timestamp}.{bdy}');
    await ui.button('Save', ui.page.getByRole('region', { name: 'Changes that are not saved' })).click();
    await sees(ui.page.getByText('nknown placeholder'));
    await picture(ui, `own-scheme-refused-${theme}`);
    await ui.button('Discard').click();
    await ui.go(`#/events/${id}/overview`);
    await sees(ui.button('Save this secret', ui.panel));
    await picture(ui, `handshake-${theme}`);
  }
}

/** What a source answers, and the messages if an answer is not possible. */
export async function answers(stage) {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('shop', { provider: 'stripe' });
  await hookmitt.api.source('billing', { provider: 'aws_sns' });
  await hookmitt.api.ask('PATCH', '/api/sources/shop', { answer: { status: 429, delay_ms: 250, headers: [['Retry-After', '120'], ['Content-Type', 'application/json']], body: '{"retry": "later"}' } });
  const ui = await stage.open(hookmitt, LOOK);
  const main = ui.page.getByRole('main');
  const answer = main.getByRole('textbox', { name: 'Body' });
  for (const [size, suffix] of [[WIDE, ''], [NARROW, '-narrow'], [PHONE, '-phone']]) {
    for (const theme of ['dark', 'light']) {
      await settle(ui, theme, size);
      await ui.go('#/settings/sources/shop');
      await sees(answer);
      for (const [way, name] of [['Hookmitt', 'stored'], ['The local server', 'app'], ['Not set', 'auto']]) {
        await ui.choose('Who answers', way);
        await answer.scrollIntoViewIfNeeded();
        await picture(ui, `answer-${name}${suffix}-${theme}`);
      }
      await main.getByRole('textbox', { name: 'Status' }).fill('99');
      await main.getByRole('textbox', { name: 'Delay' }).fill('soon');
      await main.getByRole('textbox', { name: 'Headers' }).fill('Retry-After 120');
      await main.getByRole('textbox', { name: 'Headers' }).blur();
      await sees(main.getByText(/problems? needs? attention/).first());
      await picture(ui, `answer-wrong${suffix}-${theme}`);
      await ui.button('Discard').click();
      await ui.go('#/settings/sources/billing');
      await main.getByRole('textbox', { name: 'Tolerance' }).scrollIntoViewIfNeeded();
      await picture(ui, `checks${suffix}-${theme}`);
    }
  }
}
