// How a browser gets access (Threat 1), and what limits it.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

import { says, sees } from '../support/see.mjs';
import { story } from '../support/stage.mjs';
import { Terminal } from '../support/terminal.mjs';
import { eventually } from '../support/wait.mjs';
import { send } from '../support/http.mjs';

story('threat 1: the one-time code works once, leaves the address, and no token outlives the tab', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.post('first', { body: 'x' });
  const ui = await stage.page(hookmitt);
  await ui.page.goto(hookmitt.openUrl);
  await ui.hasRows(1);
  await eventually('the code has left the address', () => !ui.page.url().includes('code='));
  const kept = await ui.page.evaluate(() => ({
    local: JSON.stringify({ ...localStorage }), cookies: document.cookie, session: Object.values({ ...sessionStorage }),
  }));
  const tokens = kept.session.join(' ').match(/\d+\.[0-9a-f]{64}\.[0-9a-f]{64}/g) ?? [];
  assert.equal(tokens.length, 1, 'the session keeps its token');
  assert.ok(!kept.local.includes(tokens[0]) && !/[0-9a-f]{64}/.test(kept.local));
  assert.equal(kept.cookies, '');
  assert.deepEqual(await ui.page.context().cookies(), []);

  await ui.page.reload();
  await ui.hasRows(1);

  const second = await stage.page(hookmitt);
  second.watch.forgive(/Failed to load resource.*401/);
  await second.page.goto(hookmitt.openUrl);
  await says(second.page.locator('body'), 'This link has expired', 'hookmitt url --ui');
  assert.equal(await second.rows.count(), 0);
});

story('threat 1: the browser is given a private file, which leads to the page and leaves no trace', async (stage) => {
  const terminal = await Terminal.start();
  stage.leaves(() => terminal.end());
  const file = await terminal.opened();
  const ui = await stage.page({ api: { url: terminal.ui } });
  ui.watch.forgive(/^request to elsewhere: file:/);
  const asked = [];
  ui.page.on('request', (request) => asked.push(request));
  await ui.page.goto(pathToFileURL(file).href, { waitUntil: 'commit' });
  await ui.ready();
  assert.equal(new URL(ui.page.url()).origin, terminal.ui);
  await eventually('the code has left the address', () => !ui.page.url().includes('code='));
  await eventually('the file is gone', () => !existsSync(file));
  const [first, second] = asked;
  assert.equal(first.url(), pathToFileURL(file).href);
  assert.equal(new URL(second.url()).origin, terminal.ui, 'the file loads nothing, and goes to the page at once');
  assert.equal(await second.headerValue('referer'), null);
  assert.ok(await ui.page.evaluate(() => document.referrer === ''));
  await ui.page.goBack({ waitUntil: 'commit' }).catch(() => null);
  assert.ok(!ui.page.url().startsWith('file:'), `the file is not in the history: ${ui.page.url()}`);
});

story('threat 1: without a code the page says where to get one, and shows nothing', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const ui = await stage.page(hookmitt);
  await ui.page.goto(hookmitt.api.url);
  await says(ui.page.locator('body'), 'Open this page from hookmitt', 'hookmitt serve');
});

story('threat 1: the page comes with a strict policy, and answers to its own Host alone', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const page = await send('GET', hookmitt.api.url);
  assert.equal(page.status, 200);
  const policy = page.headers['content-security-policy'];
  for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]) assert.ok(policy.includes(part), `${part} in ${policy}`);
  assert.doesNotMatch(policy.replace(/style-src[^;]*/, ''), /unsafe-/, policy);
  assert.doesNotMatch(policy, /https?:|\*/, policy);
  assert.equal(page.headers['x-content-type-options'], 'nosniff');
  assert.match(page.headers['cache-control'], /no-store/);
  assert.doesNotMatch(page.body.toString(), /<script(?![^>]*src=)|style="|https?:\/\//);
  const assets = page.body.toString().match(/\/assets\/[\w.-]+/g);
  for (const asset of assets) {
    const answer = await send('GET', hookmitt.api.url + asset);
    assert.equal(answer.status, 200, asset);
    assert.match(answer.headers['cache-control'], /immutable/);
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
  }
  const foreign = await send('GET', hookmitt.api.url, { headers: [['Host', 'evil.example']] });
  assert.equal(foreign.status, 403);
});
