// Keeping and letting go: marks, the trash, clearing, refusals, the audit trail; full, empty and broken.
import { seed } from '../support/inbox.mjs';
import { LOOK, NARROW, PHONE, WIDE, both, picture, settle } from '../support/picture.mjs';
import { sees } from '../support/see.mjs';

const refusal = (now, ago, change) => ({
  at: new Date(now - ago).toISOString(), remote: '127.0.0.1', method: 'POST', target: '/stripe-test/webhooks', host: '127.0.0.1:4400', status: 503, code: 'disk-full',
  message: 'the disk is full', source: 'stripe-test', provider: 'stripe', size: 3_412, more: 0, ...change,
});

/** What was refused, as the API tells it. */
const refused = (now) => [
  refusal(now, 20_000, {}),
  refusal(now, 80_000, { more: 41 }),
  refusal(now, 400_000, { status: 404, code: 'no-such-source', target: '/stirpe/webhooks', source: 'stirpe', remote: '203.0.113.9', message: 'there is no source of this name' }),
  refusal(now, 900_000, { status: 413, code: 'body-too-large', target: '/shopify/products/update?id=632910392', provider: 'shopify', source: 'shopify', size: 31_457_280 }),
  refusal(now, 4_000_000, { status: 421, code: 'bad-host', host: 'evil.example', method: 'GET', target: '/intake', provider: null }),
  refusal(now, 9_000_000, { status: 400, code: 'bad-request-head', method: null, target: null, provider: null, remote: '2001:db8:85a3::8a2e:370:7334' }),
];

const broken = (route) => route.fulfill({ status: 500, contentType: 'application/problem+json',
  json: { type: 'about:blank', title: '', status: 500, code: 'inbox', detail: 'the inbox can’t be read: disk I/O error', hint: null } });

/** How long events are kept: with times of some sources, with what is wrong, and on a disk that is nearly full. */
export async function retention(stage) {
  const hookmitt = await stage.hookmitt();
  for (const [source, provider] of [['stripe-test', 'stripe'], ['github', 'github'], ['a-source-with-quite-a-long-name', null]]) await hookmitt.api.source(source, { provider });
  const ui = await stage.open(hookmitt, LOOK);
  await both(ui, 'retention-plain', '#/settings/retention', 'All sources keep');
  await hookmitt.api.ask('PATCH', '/api/retention', { size_limit: 2_500_000_000, sources: { 'stripe-test': { completed: '1d', failed: '90d' }, 'a-source-with-quite-a-long-name': { captured: 'never' } } });
  await ui.page.route('**/api/stats*', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), disk: { free: 412_000_000, total: 250_000_000_000, nearly_full: true } } });
  });
  await ui.page.reload();
  await sees(ui.page.getByText('The disk is nearly full: '));
  for (const [size, name] of [[WIDE, 'retention'], [NARROW, 'retention-narrow'], [PHONE, 'retention-phone']]) {
    await both(ui, name, '#/settings/retention', 'Empty: as for all sources', size);
    await ui.page.getByRole('group', { name: 'stripe-test' }).getByLabel('Skipped').fill('soon');
    await picture(ui, `${name}-wrong-light`);
    await ui.page.getByRole('group', { name: 'stripe-test' }).getByLabel('Skipped').fill('12h');
    await picture(ui, `${name}-changed-light`);
    await ui.button('Discard').click();
  }
  await ui.page.route('**/api/retention', broken);
  await ui.go('#/settings/general');
  await both(ui, 'retention-fault', '#/settings/retention', 'could not be read');
}

/** A day's events: marked, deleted and refused. */
export async function keeping(stage) {
  const hookmitt = await stage.hookmitt();
  const { servers, first, invalid, newest } = await seed(hookmitt.api, hookmitt.capture);
  stage.leaves(() => Promise.all(servers.map((server) => server.stop().catch(() => {}))));
  const mark = (id, change) => hookmitt.api.ask('PATCH', `/api/events/${id}`, change);
  await mark(first, { pinned: true, tags: ['billing', 'acme', 'regression'], note: 'Acme says this one came twice.\nSee the ticket before replaying.' });
  await mark(invalid, { tags: ['to look at'] });
  await mark(newest, { pinned: true });
  for (const { id } of (await hookmitt.api.events('source=github')).slice(1, 4)) await hookmitt.api.ask('DELETE', `/api/events/${id}`);
  const ui = await stage.open(hookmitt, LOOK);
  await ui.hasRowsBeyond(8);
  await both(ui, 'marks', `#/events/${first}`, 'See the ticket');
  for (const theme of ['dark', 'light']) {
    await settle(ui, theme, WIDE);
    await ui.page.keyboard.press('t');
    await sees(ui.page.getByRole('listbox', { name: 'Tags' }).getByRole('option', { name: /to look at/ }));
    await picture(ui, `marks-tag-${theme}`);
    await ui.page.keyboard.press('Escape');
    await ui.page.keyboard.press('n');
    await sees(ui.page.getByRole('textbox', { name: 'Note' }));
    await picture(ui, `marks-note-${theme}`);
    await ui.page.keyboard.press('Escape');
  }
  await both(ui, 'marks-narrow', `#/events/${first}`, 'See the ticket', NARROW);
  await ui.go('#/events?view=trash');
  await ui.page.getByRole('listbox', { name: 'Trash' }).getByRole('option').nth(1).click();
  const { hash } = new URL(ui.page.url());
  await both(ui, 'trash', hash, 'It counts nowhere');
  await both(ui, 'trash-narrow', hash, 'It counts nowhere', NARROW);
  await settle(ui, 'dark', WIDE);
  await ui.button('Empty').click();
  await sees(ui.page.getByRole('dialog'));
  await picture(ui, 'trash-ask-dark');
  await ui.page.keyboard.press('Escape');
  await ui.page.getByRole('link', { name: 'stripe-test' }).hover();
  await ui.button('Actions on stripe-test').click();
  await picture(ui, 'clear-menu-dark');
  await ui.page.getByRole('menuitem', { name: 'Clear…' }).click();
  await sees(ui.page.getByText('to the trash').first());
  for (const theme of ['dark', 'light']) {
    await settle(ui, theme, WIDE);
    await picture(ui, `clear-${theme}`);
  }
  await ui.page.keyboard.press('Escape');
  await both(ui, 'audit', '#/settings/audit', 'Deleted');
  await both(ui, 'audit-narrow', '#/settings/audit', 'Deleted', NARROW);
  await both(ui, 'refusals-none', '#/refusals', 'Nothing was refused');
  await ui.go('#/events');
  const relays = [{ tunnel: 'acme-dev', host: 'relay.acme.dev', refused: { count: 12, last_at: null } }];
  await ui.page.route('**/api/refusals*', (route) => route.fulfill({ json: { items: refused(Date.now()), next_cursor: null, relays } }));
  await both(ui, 'refusals', '#/refusals', 'Disk full');
  await both(ui, 'refusals-narrow', '#/refusals', 'Disk full', NARROW);
  await both(ui, 'refusals-phone', '#/refusals', 'Disk full', PHONE);
  await ui.page.route(/\/api\/(trash|audit)\b/, broken);
  await ui.page.reload();
  await both(ui, 'trash-fault', '#/events?view=trash', 'could not be read');
  await both(ui, 'audit-fault', '#/settings/audit', 'could not be read');
}
