// Web pages and this machine (Threat 1), in a real browser: sign-ins return, hostile pages reach nothing.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';

import { launch } from '../support/browser.mjs';
import { send } from '../support/http.mjs';
import { hasNoBarriers, says, sees } from '../support/see.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

/** Both names resolve to this machine, as a stranger's name may. Chromium's question before a foreign page calls this
 *  machine is turned off, because not every browser asks, and a user may say yes. */
const RULES = ['--host-resolver-rules=MAP evil.example 127.0.0.1, MAP idp.example 127.0.0.1', '--disable-features=LocalNetworkAccessChecks'];

/** Opens a page in a browser that resolves those names. */
async function stranger(stage) {
  const chromium = await launch(RULES);
  stage.leaves(() => chromium.close());
  return (await chromium.newContext({ serviceWorkers: 'block' })).newPage();
}

/** Starts a site on a free port; returns the port. `answer` returns `{ status, headers, body }` for a path. */
async function site(stage, answer) {
  const server = createServer((request, response) => {
    const { status = 200, headers = {}, body = '' } = answer(request.url);
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  stage.leaves(() => { server.closeAllConnections(); server.close(); });
  return server.address().port;
}

/** Starts a hookmitt whose source `login` is answered by the local server. */
async function answering(stage) {
  const [hookmitt, server] = [await stage.hookmitt({ flags: ['--hold', '1h'] }), await stage.server()];
  await hookmitt.api.source('login', { answer: { respond: 'app' } });
  await hookmitt.api.target('login', server.url);
  server.answer = () => ({ status: 200, body: 'the local server says so' });
  return { hookmitt, server };
}

const paths = (server) => server.seen.map(({ line }) => line.split(' ')[1]);

story('threat 1: a sign-in comes back, and the browser gets the local server’s own answer', async (stage) => {
  const { hookmitt, server } = await answering(stage);
  const back = `${hookmitt.capture}/login/callback`;
  const port = await site(stage, (path) => (path.startsWith('/authorize')
    ? { status: 302, headers: { location: `${back}?code=1&state=${path.split('=')[1]}` } }
    : { body: '<a href="/authorize?state=clicked">Sign in</a>' }));
  const page = await stranger(stage);
  for (const [at, origin] of [`http://idp.example:${port}`, `http://127.0.0.1:${port}`, `http://localhost:${port}`].entries()) {
    await page.goto(`${origin}/authorize?state=${at}`);
    assert.equal(page.url(), `${back}?code=1&state=${at}`);
    await says(page.locator('body'), 'the local server says so');
    await page.goto(`${origin}/`);
    await page.getByText('Sign in').click();
    await page.waitForURL(`${back}?code=1&state=clicked`);
    await says(page.locator('body'), 'the local server says so');
  }
  assert.equal(server.seen.length, 6);
  const [event] = await hookmitt.api.events();
  assert.equal(event.browser, true);
  assert.equal(event.withheld, undefined);
});

/** Everything that a page can do to a URL without navigating to it, each to a path of its own. */
const HOSTILE = (base) => `<!doctype html><title>hostile</title>
<link rel="prefetch" href="${base}/prefetch"><link rel="stylesheet" href="${base}/style">
<script type="speculationrules">{"prefetch":[{"urls":["${base}/speculative"]}],"prerender":[{"urls":["${base}/prerender"]}]}</script>
<img src="${base}/image"><iframe src="${base}/frame"></iframe><object data="${base}/object"></object><embed src="${base}/embed">
<script src="${base}/script"></script>
<iframe name="inside"></iframe>
<form id="get" target="inside" action="${base}/form-get"></form>
<form id="post" target="inside" method="post" action="${base}/form-post"></form>
<script>
  document.getElementById('get').submit();
  document.getElementById('post').submit();
  navigator.sendBeacon('${base}/beacon', 'x');
  new EventSource('${base}/events');
  new WebSocket('${base}/socket'.replace('http', 'ws'));
  const all = [['fetch', {}], ['fetch-opaque', { mode: 'no-cors' }], ['fetch-post', { method: 'POST', body: 'x' }], ['fetch-head', { method: 'HEAD' }], ['fetch-cookies', { credentials: 'include' }]];
  Promise.allSettled(all.map(([name, how]) => fetch('${base}/' + name, how).then((answer) => answer.text()))).then((found) => {
    window.read = found.map(({ value }) => value ?? '');
  });
</script>`;

/** Those of these paths that every browser requests at once. */
const SENT = ['/style', '/image', '/frame', '/object', '/script', '/beacon', '/events', '/fetch', '/fetch-opaque', '/fetch-post', '/fetch-head', '/fetch-cookies'];

story('threat 1: whatever else a hostile page sends does not reach the local server', async (stage) => {
  const { hookmitt, server } = await answering(stage);
  const base = `${hookmitt.capture}/login`;
  const port = await site(stage, () => ({ body: HOSTILE(base) }));
  const page = await stranger(stage);
  for (const origin of [`http://evil.example:${port}`, `http://127.0.0.1:${port}`]) {
    const before = (await hookmitt.api.events()).length;
    await page.goto(origin, { waitUntil: 'commit' });
    await eventually('the page has sent it all', async () => {
      const events = await hookmitt.api.events();
      const sent = events.slice(0, events.length - before).map(({ path }) => path);
      const missing = SENT.filter((path) => !sent.includes(path));
      if (missing.length === 0) return true;
      throw new Error(`not yet: ${missing}`);
    });
    const read = await eventually('and read what it may', () => page.evaluate(() => window.read));
    assert.ok(read.every((text) => !text.includes('the local server')), read.join());
  }
  // Navigating a frame is not opening a tab, and posting a form is not a callback.
  const odd = (await hookmitt.api.events()).filter(({ status, browser }) => status !== 'skipped' || !browser);
  assert.deepEqual(odd.map(({ method, path }) => `${method} ${path}`), []);
  await send('GET', `${base}/by-hand`);
  await server.waitFor(1);
  assert.deepEqual(paths(server), ['/by-hand']);
});

story('threat 1: a callback that is posted as a form is withheld, and says so', async (stage) => {
  const { hookmitt, server } = await answering(stage);
  const port = await site(stage, () => ({
    body: `<form method="post" action="${hookmitt.capture}/login/callback"><input name="code" value="1"></form><script>document.forms[0].submit()</script>`,
  }));
  const page = await stranger(stage);
  await page.goto(`http://idp.example:${port}/`);
  await page.waitForURL(`${hookmitt.capture}/login/callback`);
  const [event] = await hookmitt.api.events();
  assert.equal(event.withheld.reason, 'form_post');
  assert.match(event.withheld.message, /form_post/);
  assert.equal(server.seen.length, 0);
});

story('threat 1: a rebound page reads nothing of the local server and makes no source', async (stage) => {
  const { hookmitt, server } = await answering(stage);
  const origin = `http://evil.example:${new URL(hookmitt.capture).port}`;
  const page = await stranger(stage);
  // The page itself comes from its own server, before its name resolves to this machine.
  await page.route(`${origin}/page`, (route) => route.fulfill({ contentType: 'text/html', body: '<title>rebound</title>' }));
  await page.goto(`${origin}/page`);
  const asked = (method, path) => page.evaluate(async ([method, path]) => {
    const answer = await fetch(path, { method });
    return { status: answer.status, text: await answer.text() };
  }, [method, path]);
  for (const [method, status] of [['GET', 202], ['HEAD', 202], ['POST', 202]]) {
    const { status: found, text } = await asked(method, '/login/admin');
    assert.equal(found, status);
    assert.ok(!text.includes('the local server'), text);
  }
  for (const method of ['GET', 'HEAD', 'POST']) assert.equal((await asked(method, '/new/admin')).status, 404);
  const frame = page.waitForEvent('frameattached');
  await page.evaluate(() => { document.body.append(Object.assign(document.createElement('iframe'), { src: '/login/frame' })); });
  await frame;
  await eventually('its frame was caught', async () => (await hookmitt.api.events()).length === 4);
  const events = await hookmitt.api.events();
  for (const { method, withheld, headers } of events) {
    assert.equal(withheld.reason, method === 'POST' ? 'web_page' : 'foreign_host');
    const names = headers.map(([name]) => name.toLowerCase());
    assert.ok(method === 'POST' || !names.some((name) => name === 'origin' || name.startsWith('sec-fetch')), 'only the name tells');
  }
  assert.deepEqual((await hookmitt.api.ask('GET', '/api/sources')).items.map(({ slug }) => slug), ['login']);
  assert.equal(server.seen.length, 0);
});

story('a host that is withheld is said in the verdict, allowed on a click, and what waited is forwarded', async (stage) => {
  const [hookmitt, server] = [await stage.hookmitt(), await stage.server()];
  await hookmitt.api.source('shop');
  await hookmitt.api.target('shop', server.url);
  const ui = await stage.open(hookmitt);
  const get = (path) => send('GET', `${hookmitt.capture}/shop/${path}`, { headers: [['Host', 'abc.tunnel.example']] });
  await get('one');
  await get('two');
  await ui.select('/two');
  const verdict = ui.panel.getByRole('region', { name: 'Verdict' });
  await says(verdict, 'Not forwarded: it was called as abc.tunnel.example, which isn’t a name of this machine.');
  await ui.button('Why', verdict).click();
  await says(verdict, 'hookmitt source edit shop --allow-host abc.tunnel.example');
  await hasNoBarriers(ui.page, 'a host that is withheld');
  await ui.button('Allow this host', verdict).click();
  await sees(ui.button('Forward 2 withheld', verdict));
  assert.equal(server.seen.length, 0, 'it is an offer');
  await ui.button('Forward 2 withheld', verdict).click();
  await server.waitFor(2);
  assert.deepEqual(paths(server).sort(), ['/one', '/two']);
  await eventually('nothing is left to be offered', async () => (await ui.button('Forward', verdict).count()) === 0);
  await get('three');
  await server.waitFor(3);
});
