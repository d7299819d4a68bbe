// Captured data is hostile (Threat 2): it is shown as text, and does nothing.
import assert from 'node:assert/strict';

import { says, sees, textOf } from '../support/see.mjs';
import { story } from '../support/stage.mjs';

/** Runs in the page: checks that nothing in a body became an element or a value. */
const nothingRan = () => ({
  marked: window.pwned ?? null,
  elements: document.querySelectorAll('[data-hostile], #hostile, main script, main iframe, main object, main embed, main foreignObject').length,
  frames: window.frames.length,
});

const HTML = '<!doctype html><title>x</title><h1 id="hostile">Hello</h1><script>window.pwned=1;alert(1)</script>'
  + '<img data-hostile src="http://127.0.0.1:9/x.png" onerror="window.pwned=2"><iframe srcdoc="<script>parent.pwned=3</script>"></iframe>'
  + '<link rel="stylesheet" href="http://127.0.0.1:9/x.css"><meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/">';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" id="hostile" onload="window.pwned=4"><script>window.pwned=5;alert(1)</script>'
  + '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="http://127.0.0.1:9/y.png"/></body></foreignObject>'
  + '<image href="http://127.0.0.1:9/z.png"/></svg>';

/** Checks that every view of the body shows the text, and that nothing in it ran. */
async function staysText(ui, words) {
  await ui.tab('Body');
  for (const view of ['Raw', 'Hex', 'Pretty']) {
    await ui.choose('Shown as', view);
    if (view !== 'Hex') await says(ui.panel, words);
  }
  assert.deepEqual(await ui.page.evaluate(nothingRan), { marked: null, elements: 0, frames: 0 });
}

for (const [kind, type, body, words] of [['HTML', 'text/html', HTML, 'window.pwned=1;alert(1)'], ['SVG', 'image/svg+xml', SVG, 'window.pwned=5;alert(1)']]) {
  story(`threat 2: a body of ${kind} with a script does nothing and is shown as text`, async (stage) => {
    const hookmitt = await stage.hookmitt();
    await hookmitt.post('evil', { headers: [['Content-Type', type]], body });
    const ui = await stage.open(hookmitt);
    await ui.select('POST /evil');
    await staysText(ui, words);
  });
}

story('threat 2: hostile names, header values and JSON stay text everywhere', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const tag = '<img data-hostile src=x onerror=window.pwned=6>';
  await hookmitt.api.source('evil', { provider: 'github' });
  const headers = [['X-GitHub-Event', `push${tag}`], ['X-GitHub-Delivery', `1${tag}`], ['X-Evil', `"><script>window.pwned=7</script>`],
    ['X-Template', '${window.pwned=8} {{constructor.constructor("window.pwned=9")()}}'], ['Content-Type', 'application/json']];
  await hookmitt.post('evil', { path: '/%3Cscript%3E', headers, body: JSON.stringify({ repository: { full_name: tag }, [tag]: tag, __proto__: 1 }) });
  const ui = await stage.open(hookmitt);

  const row = ui.rows.first();
  await says(row, tag);
  await row.click();
  await says(ui.detail, tag);
  await says(await ui.tab(/^Headers/), '"><script>window.pwned=7</script>', '{{constructor.constructor');
  await staysText(ui, tag);
});

story('threat 2: characters that turn a line around or hide are visible', async (stage) => {
  const hookmitt = await stage.hookmitt();
  await hookmitt.api.source('evil', { provider: 'github' });
  const headers = [['X-GitHub-Event', 'push'], ['X-GitHub-Delivery', '1'], ['X-Turned', 'invoice\u202Egpj.exe\u2066x'], ['Content-Type', 'application/json']];
  await hookmitt.post('evil', { headers, body: '{"repository":{"full_name":"safe\u202Etxt.exe\u200B"},"zero":"a\u200Bb\u0007"}' });
  const ui = await stage.open(hookmitt);

  const row = ui.rows.first();
  await says(row, 'safetxt.exe'); // a subject leaves them out
  await row.click();
  const heading = ui.detail.getByRole('heading').first();
  await says(heading, 'push');
  await says(await ui.tab(/^Headers/), 'invoice⟨U+202E⟩gpj.exe⟨U+2066⟩x');
  await ui.tab('Body');
  await says(ui.panel, 'full_name', 'safe⟨U+202E⟩txt.exe⟨U+200B⟩');
  assert.doesNotMatch(await textOf(ui.page.locator('body')), /[\u202A-\u202E\u2066-\u2069\u200B]/, 'no hidden character reaches the screen');
});

story('threat 2: bytes that are no text are shown as bytes', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const body = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  await hookmitt.post('bytes', { headers: [['Content-Type', 'application/octet-stream']], body });
  const ui = await stage.open(hookmitt);
  await ui.select('POST /bytes');
  await ui.tab('Body');
  await says(ui.panel, /00 01 02 03/, /fc fd fe ff/i);
});

story('the exact bytes of a body are never rendered by the browser', async (stage) => {
  const hookmitt = await stage.hookmitt();
  const { id } = await hookmitt.post('evil', { headers: [['Content-Type', 'text/html']], body: HTML });
  const ui = await stage.open(hookmitt);
  await sees(ui.rows.first());
  const { headers } = await hookmitt.api.call('GET', `/api/events/${id}/body`);
  assert.equal(headers['content-type'], 'application/octet-stream');
  assert.match(headers['content-disposition'], /^attachment/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.match(headers['content-security-policy'], /sandbox/);
});
