// An event that came for a source that isn't known here goes to one that is.
import { hasNoBarriers, says, sees } from '../support/see.mjs';
import { stripe } from '../support/samples.mjs';
import { SECRETS, signed } from '../support/senders.mjs';
import { story } from '../support/stage.mjs';

story('an event without a known source is moved to one, verified and delivered there', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const server = await stage.server();
  await hookmitt.api.source('shop', { provider: 'stripe' });
  await hookmitt.api.secret('shop', SECRETS.stripe);
  await hookmitt.api.target('shop', server.url);
  await hookmitt.post('unassigned', await signed('stripe', { body: stripe.charge(Date.now()) }));

  const ui = await stage.open(hookmitt);
  await ui.page.keyboard.press('j');
  await says(ui.detail, 'It came for a source that isn’t known here, so it isn’t delivered.');
  await ui.detail.getByRole('button', { name: 'Move to…' }).click();
  const dialog = await sees(ui.page.getByRole('dialog', { name: /^Move charge.succeeded to a source/ }));
  await hasNoBarriers(ui.page, 'a source is asked for');
  await says(dialog, 'shop');
  await dialog.getByRole('button', { name: 'Move', exact: true }).click();

  await sees(ui.page.getByText('charge.succeeded moved to shop'));
  await says(ui.selected, 'charge.succeeded');
  await says(ui.panel, 'Valid');
  await server.waitFor(1);
});
