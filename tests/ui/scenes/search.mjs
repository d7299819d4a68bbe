// The search: what can be typed, what is wrong, what is saved, and what is marked.
import { seed } from '../support/inbox.mjs';
import { LOOK, NARROW, picture, settle } from '../support/picture.mjs';
import { says, sees } from '../support/see.mjs';

/** A day's events, searched. */
export async function search(stage) {
  const hookmitt = await stage.hookmitt();
  const { servers } = await seed(hookmitt.api, hookmitt.capture);
  stage.leaves(() => Promise.all(servers.map((server) => server.stop().catch(() => {}))));
  const ui = await stage.open(hookmitt, LOOK);
  await ui.hasRowsBeyond(8);
  await ui.search.fill('verdict:valid');
  await ui.search.press('Enter');
  await ui.button('Save search').click();
  await ui.page.getByLabel('Name', { exact: true }).fill('Genuine');
  await ui.page.keyboard.press('Enter');
  await says(ui.page.getByRole('link', { name: /^Genuine/ }), /\d/);
  for (const theme of ['dark', 'light']) {
    await settle(ui, theme);
    await ui.go('#/events');
    await ui.hasRowsBeyond(8);
    await ui.search.click();
    await sees(ui.page.getByRole('option', { name: /^source:/ }));
    await picture(ui, `search-keys-${theme}`);
    await ui.search.pressSequentially('source:s');
    await sees(ui.page.getByRole('option', { name: /shopify/ }).first());
    await picture(ui, `search-values-${theme}`);
    await ui.search.fill('verdict:wrong');
    await ui.search.press('Enter');
    await says(ui.page.getByRole('alert'), 'No verdict is called');
    await picture(ui, `search-fault-${theme}`);
    await ui.search.fill('acme');
    await ui.search.press('Enter');
    await sees(ui.list.locator('mark').first());
    await ui.select('charge.succeeded');
    await sees(ui.detail.getByRole('tab', { name: /^Body/ }));
    await ui.page.keyboard.press('F3');
    await sees(ui.panel.locator('mark').first());
    await picture(ui, `search-marks-${theme}`);
    await ui.search.fill('nothing-is-called-so');
    await ui.search.press('Enter');
    await sees(ui.page.getByText('No event matches').first());
    await picture(ui, `search-none-${theme}`);
    await settle(ui, theme, NARROW);
    await picture(ui, `search-narrow-${theme}`);
  }
}
