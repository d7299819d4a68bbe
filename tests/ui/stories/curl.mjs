// Copy as curl: a command that repeats the provider's request.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { stripe } from '../support/samples.mjs';
import { signed } from '../support/senders.mjs';
import { sees } from '../support/see.mjs';
import { story } from '../support/stage.mjs';
import { eventually, LONG } from '../support/wait.mjs';

const run = promisify(execFile);

const BODIES = {
  'a signed event': async () => signed('stripe', { body: stripe.invoicePaid(Date.now()), path: '/web/hooks' }),
  'hostile text': async () => ({
    path: '/a%27b', headers: [['Content-Type', 'text/plain; x="it\'s $(touch pwned) `id` \\"'], ['X-Empty', '']],
    body: 'it\'s "$(touch pwned)" `id` ${HOME} \\n %s !! \r\n\t@file\n',
  }),
  'a body that begins with @': async () => ({ headers: [['Content-Type', 'text/plain']], body: '@/etc/hostname' }),
  'bytes that are no text': async () => ({
    method: 'PUT', headers: [['Content-Type', 'application/octet-stream']], body: Buffer.from([0, 255, 10, 13, 39, 92, 128, 0]),
  }),
  'no body at all': async () => ({ method: 'DELETE', path: '/x', headers: [['X-One', '1']], body: '' }),
};

for (const [what, make] of Object.entries(BODIES)) {
  story(`copy as curl sends ${what} again, byte for byte`, async (stage) => {
    const hookmitt = await stage.hookmitt();
    const request = await make();
    const { id } = await hookmitt.post('shop', request);
    const ui = await stage.open(hookmitt, { clipboard: true });
    await ui.rows.first().click();
    await sees(ui.panel);
    await ui.page.keyboard.press('c');
    const command = await eventually('the clipboard holds the command', async () => {
      const text = await ui.clipboard();
      return text.includes(new URL(hookmitt.capture).host) && text;
    });

    await run('bash', ['-c', command], { timeout: LONG });

    const [again] = await eventually('the command has reached hookmitt', async () => {
      const events = await hookmitt.api.events();
      return events.length === 2 && events;
    });
    const first = await hookmitt.api.event(id);
    const told = ({ method, path, query, source, sha256 }) => ({ method, path, query, source, sha256 });
    assert.deepEqual(told(again), told(first));
    assert.deepEqual(await hookmitt.api.body(again.id), Buffer.from(request.body));
    const lines = ({ headers }) => headers.filter(([name]) => !/^(host|user-agent|accept|content-length|connection)$/i.test(name));
    assert.deepEqual(lines(again), lines(first));
  });
}
