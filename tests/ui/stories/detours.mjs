// For users without a relay: the page with a channel and a program, both played by stand-ins.
import assert from 'node:assert/strict';

import { Channel, Programs } from '../support/detours.mjs';
import { gone, hasNoBarriers, says, sees } from '../support/see.mjs';
import { post } from '../support/senders.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

const paneOf = (ui) => ui.page.getByRole('region', { name: 'Tunnel', exact: true });
const strip = (ui) => ui.page.getByRole('list', { name: 'Connection' });

/** Opens the dialog that adds a tunnel, with this way chosen. */
async function adding(ui, way) {
  await ui.go('#/tunnels/add');
  const dialog = ui.page.getByRole('dialog');
  await sees(dialog);
  await ui.choose('Kind', way);
  return dialog;
}

story('without a relay: a channel is added, its limits are said, and a spoilt signature names it', async (stage) => {
  const [hookmitt, channel] = [await stage.hookmitt(), await Channel.start()];
  stage.leaves(() => channel.stop());
  await hookmitt.api.source('shop', { provider: 'github' });
  await hookmitt.api.ask('PUT', '/api/sources/shop/secrets/first', { value_base64: btoa('secret') });
  const ui = await stage.open(hookmitt);
  const dialog = await adding(ui, 'smee channel');
  await says(dialog, 'signatures can’t verify', 'hears the channel’s answer, never this app’s');
  await dialog.getByRole('textbox', { name: 'Channel' }).fill(channel.url);
  await ui.button('Add', dialog).click();
  await gone(dialog);
  const pane = paneOf(ui);
  await says(pane.getByRole('status'), /^Connected since .*, limited\. Rewrites JSON: signatures can’t verify\.$/);
  await says(pane, 'smee-shop', channel.url, 'stores nothing', 'parsed requests');
  await says(strip(ui), /smee-shop limited/);
  await hasNoBarriers(ui.page, 'a channel');

  const signed = { 'x-github-event': 'push', 'x-github-delivery': 'one', 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
  await channel.passOn(signed, { n: 1 });
  await ui.go('#/events');
  await ui.select('push');
  await says(ui.panel, 'shop, via tunnel', 'parses JSON and writes it again');
  await ui.go('#/settings/sources/shop');
  await says(ui.page.getByRole('list', { name: 'Public URLs' }), channel.url);
  await channel.stop();
  await ui.go('#/tunnels/1');
  await says(pane.getByRole('status'), /^Offline since .*What is sent meanwhile is lost: nothing stores it\.$/);
  await says(pane, 'This is retried automatically');
});

story('without a relay: a quick URL is shown while its program runs, and another one after it died', async (stage) => {
  const programs = new Programs();
  stage.leaves(() => programs.remove());
  const hookmitt = await stage.hookmitt({ env: programs.env });
  await hookmitt.api.source('shop');
  const ui = await stage.open(hookmitt);
  ui.watch.forgive(/Failed to load resource.*400/);
  const dialog = await adding(ui, 'Quick URL');
  await says(dialog, 'The URL changes on every start');
  await ui.button('Add', dialog).click();
  await says(dialog, /cloudflared is not installed.*brew install cloudflared/i);
  programs.install();
  await ui.button('Add', dialog).click();
  await gone(dialog);
  const pane = paneOf(ui);
  await says(pane.getByRole('status'), /^Connected since/);
  const shown = async () => (await hookmitt.api.ask('GET', '/api/tunnels/1')).public_url;
  const url = await shown();
  const first = programs.run(url);
  await says(pane, 'cloudflared-shop', url, 'stores nothing', 'The URL changes on every start');
  await says(strip(ui), /cloudflared-shop connected/);
  const { id } = await post(`http://127.0.0.1:${first.port}`, 'shop', { path: '/paid', body: '{}' });
  assert.ok(id, 'it really leads here');
  await ui.go('#/events');
  await ui.select('/paid');
  await says(ui.panel, 'shop, via tunnel');
  await ui.go('#/settings/sources/shop');
  await says(ui.page.getByRole('list', { name: 'Public URLs' }), url);

  process.kill(first.pid, 'SIGKILL');
  await eventually('there is another URL', async () => ![null, url].includes(await shown()));
  const second = await shown();
  await says(ui.page.getByRole('list', { name: 'Public URLs' }), second);
  await ui.go('#/tunnels/1');
  await says(pane, second);
  await ui.button('Disconnect', pane).click();
  await says(pane.getByRole('status'), /^Off since/);
  await gone(pane.getByText(second));
  const { pid } = programs.run(second);
  await eventually('the program has ended', async () => !isThere(pid));
});

function isThere(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
