// What isn't trusted, and why: withheld events, secrets from requests, parts that a signature doesn't cover, devices.
import { both, LOOK, NARROW, PHONE, picture, settle } from '../support/picture.mjs';
import { send } from '../support/http.mjs';
import { says, sees } from '../support/see.mjs';
import { SECRETS, signed } from '../support/senders.mjs';
import { stripe } from '../support/samples.mjs';
import { eventually } from '../support/wait.mjs';

/** What was withheld, and what the user can do about it. */
export async function withheld(stage) {
  const [hookmitt, server] = [await stage.hookmitt(), await stage.server()];
  for (const name of ['login', 'tasks', 'notes', 'pay', 'calls', 'shop', 'refuses']) await hookmitt.api.source(name, {});
  await hookmitt.api.target('login', server.url);
  await hookmitt.api.target('refuses', server.url);
  const newest = async () => (await hookmitt.api.events())[0].id;
  await send('GET', `${hookmitt.capture}/login/admin?tab=1`, { headers: [['Host', 'evil.example']] });
  const host = await newest();
  const bring = (source, secret) => hookmitt.post(source, { body: '{}', headers: [['X-Hook-Secret', secret], ['Content-Type', 'application/json']] });
  await bring('notes', 'b537207f20cbfa02357cf448134da559');
  const unset = await newest();
  await hookmitt.api.ask('PATCH', '/api/sources/tasks', { provider: 'asana' });
  await hookmitt.api.secret('tasks', 'the first');
  await bring('tasks', '0000000000000000000000000000aaaa');
  const second = await newest();
  await hookmitt.api.ask('PATCH', '/api/sources/refuses', { provider: 'paypal', on_invalid: 'reject' });
  await hookmitt.post('refuses', { body: '{"id":"WH-1","event_type":"PAYMENT.SALE.COMPLETED"}', headers: [['PAYPAL-TRANSMISSION-ID', '1']] });
  const refused = await newest();
  await hookmitt.api.secret('shop', SECRETS.stripe);
  await hookmitt.post('shop', await signed('stripe', { body: stripe.charge(Date.now()) }));
  await hookmitt.api.ask('PATCH', '/api/sources/calls', { provider: 'twilio' });
  await hookmitt.api.secret('calls', SECRETS.twilio ?? 'token');
  const ui = await stage.open(hookmitt, LOOK);
  await both(ui, 'withheld-host', `#/events/${host}/overview`, 'Allow this host');
  await both(ui, 'withheld-host-phone', `#/events/${host}/overview`, 'Allow this host', PHONE);
  await both(ui, 'secret-unset', `#/events/${unset}/overview`, 'set to a provider');
  await both(ui, 'secret-second', `#/events/${second}/overview`, 'secret accept');
  await both(ui, 'rejected', `#/events/${refused}/overview`, 'Unsigned');
  await both(ui, 'settings-lacks', '#/settings/sources/refuses', 'Provider');
  await both(ui, 'provider-found', '#/settings/sources/shop', 'the first valid event');
  await both(ui, 'provider-found-narrow', '#/settings/sources/shop', 'the first valid event', NARROW);
}

/** Who takes part in a tunnel, which sources its relay knows, and the questions before that changes. */
export async function devices(stage) {
  const [hookmitt, other, relay] = [await stage.hookmitt(), await stage.hookmitt(), await stage.relay()];
  for (const name of ['shop', 'billing', 'private']) await hookmitt.api.source(name, {});
  const { id } = await hookmitt.api.ask('POST', '/api/tunnels', { relay: relay.url, token: await relay.token(), name: 'acme-dev' });
  await eventually('it is connected', async () => (await hookmitt.api.ask('GET', `/api/tunnels/${id}`)).state === 'connected');
  const { invite } = await hookmitt.api.ask('POST', `/api/tunnels/${id}/invite`, {});
  await other.api.ask('POST', '/api/tunnels', { invite });
  const ui = await stage.open(hookmitt, LOOK);
  const pane = ui.page.getByRole('region', { name: 'Tunnel', exact: true });
  const dialog = ui.page.getByRole('dialog');
  for (const theme of ['dark', 'light']) {
    await settle(ui, theme);
    await ui.go(`#/tunnels/${id}`);
    await sees(ui.button('Revoke', pane));
    await picture(ui, `devices-${theme}`);
    await ui.button('Revoke', pane).click();
    await says(dialog, 'Revoke the device');
    await picture(ui, `revoke-${theme}`);
    await ui.page.keyboard.press('Escape');
    await ui.button('Choose', pane).click();
    await dialog.getByText('Only these').click();
    await picture(ui, `sources-of-${theme}`);
    await ui.page.keyboard.press('Escape');
  }
}
