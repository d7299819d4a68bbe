// Keeping and letting go: pin, note and tags, the trash, clearing, refusals and the audit trail.
import assert from 'node:assert/strict';
import { connect } from 'node:net';

import { counts, focused, gone, hasNoBarriers, says, sees } from '../support/see.mjs';
import { story } from '../support/stage.mjs';
import { eventually } from '../support/wait.mjs';

const JSON_BODY = [['Content-Type', 'application/json']];

/** An inbox with this many orders, and its page. */
async function opened(stage, orders = 2) {
  const hookmitt = await stage.hookmitt();
  const ids = [];
  for (let at = 1; at <= orders; at += 1) {
    ids.push((await hookmitt.post('shop', { path: `/order/${at}`, headers: JSON_BODY, body: `{"order":${at}}` })).id);
  }
  const ui = await stage.open(hookmitt);
  await ui.hasRows(orders);
  return { hookmitt, ui, ids };
}

/** Selects an event, and waits until it is read, so that keys act on it. */
async function shown(ui, text) {
  await ui.select(text);
  await sees(ui.detail.getByRole('tab', { name: /^Body/ }));
}

const link = (ui, name) => ui.page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name });

story('an event is pinned, tagged and noted by keys, and Ctrl Z takes that back', async (stage) => {
  const { hookmitt, ui, ids } = await opened(stage);
  await hookmitt.api.ask('PATCH', `/api/events/${ids[0]}`, { tags: ['billing'] });
  await says(ui.row('/order/1'), 'billing');
  await shown(ui, '/order/2');
  await sees(ui.panel.getByText('Event', { exact: true }));
  await ui.page.keyboard.press('p');
  await sees(ui.row('/order/2').getByLabel('Pinned'));
  await ui.page.keyboard.press('t');
  const field = ui.page.getByRole('combobox', { name: 'New tag' });
  await sees(ui.page.getByRole('option', { name: /^billing/ }));
  await hasNoBarriers(ui.page, 'the field for a tag');
  await field.press('ArrowDown');
  await field.press('Enter');
  await says(ui.row('/order/2'), 'billing');
  await field.fill('vip');
  await field.press('Enter');
  await field.fill('late');
  await field.press('Enter');
  await says(ui.row('/order/2'), '+2'); // where the verdict takes room, one is named
  await field.press('Escape');
  await ui.page.keyboard.press('Control+z');
  await gone(ui.panel.getByRole('link', { name: 'late', exact: true }).first());
  await ui.page.keyboard.press('n');
  const note = ui.page.getByRole('textbox', { name: 'Note' });
  await note.fill('Ask Ada\nabout it');
  await note.press('Control+Enter');
  await sees(ui.panel.getByText('Ask Ada'));
  await sees(ui.row('/order/2').getByLabel('Has a note'));
  await focused(ui.page);
  await hasNoBarriers(ui.page, 'an event with marks');
});

story('what is deleted is in the trash, with when and by whom, and comes back or goes for good', async (stage) => {
  const { hookmitt, ui, ids } = await opened(stage, 3);
  await gone(link(ui, 'Trash'));
  await hookmitt.api.ask('DELETE', `/api/events/${ids[0]}`);
  await says(link(ui, 'Trash'), '1');
  await shown(ui, '/order/2');
  await ui.page.keyboard.press('Delete');
  await says(link(ui, 'Trash'), '2');
  await link(ui, 'Trash').click();
  const list = ui.page.getByRole('listbox', { name: 'Trash' });
  await says(list.getByRole('option').first(), '/order/2', 'The page');
  await says(list.getByRole('option').last(), '/order/1', 'The API');
  await list.focus();
  await ui.page.keyboard.press('ArrowDown');
  await focused(ui.page);
  await says(ui.detail, 'Deleted', 'It counts nowhere');
  await hasNoBarriers(ui.page, 'the trash');
  await ui.button('Restore', ui.detail).first().click();
  await counts(list.getByRole('option'), 1);
  await ui.button('Empty').click();
  const dialog = ui.page.getByRole('dialog');
  await says(dialog, '1 event will be deleted for good', 'can’t be undone');
  await hasNoBarriers(ui.page, 'the question before the trash is emptied');
  await ui.button('Delete for good', dialog).click();
  await sees(ui.page.getByText('The trash is empty'));
  await ui.go('#/events');
  await ui.hasRows(2);
  await gone(link(ui, 'Trash'));
});

story('a source is cleared by a job, except for what is pinned, and Undo brings back just that', async (stage) => {
  const { hookmitt, ui, ids } = await opened(stage, 4);
  await hookmitt.api.ask('DELETE', `/api/events/${ids[0]}`);
  await hookmitt.api.ask('PATCH', `/api/events/${ids[1]}`, { pinned: true });
  await ui.hasRows(3);
  await link(ui, 'shop').hover();
  await ui.button('Actions on shop').click();
  await ui.page.getByRole('menuitem', { name: 'Clear…' }).click();
  const dialog = ui.page.getByRole('dialog', { name: 'Clear shop' });
  await says(dialog, '2 events go to the trash', '1 pinned stays');
  await hasNoBarriers(ui.page, 'the question before a source is cleared');
  await ui.button('Clear', dialog).click();
  await sees(ui.page.getByText('2 events deleted', { exact: true }));
  await ui.hasRows(1);
  await says(link(ui, 'Trash'), '3');
  await ui.button(/^Undo/).click();
  await ui.hasRows(3);
  await says(link(ui, 'Trash'), '1');
});

/** Sends bytes that are no request. */
const sendNonsense = (hookmitt) => new Promise((resolve, reject) => {
  const { port, hostname } = new URL(hookmitt.capture);
  const socket = connect(Number(port), hostname, () => socket.write('\x16\x03\x01 nonsense\r\n\r\n'));
  socket.on('data', () => {});
  socket.on('close', resolve);
  socket.on('error', reject);
});

story('a request that is refused appears with why, and what to do', async (stage) => {
  const { hookmitt, ui } = await opened(stage);
  await link(ui, 'Refusals').click();
  await sees(ui.page.getByText('Nothing was refused'));
  await hasNoBarriers(ui.page, 'no refusal');
  await sendNonsense(hookmitt);
  const row = ui.page.getByRole('main', { name: 'Refusals' }).getByRole('row').filter({ hasText: '127.0.0.1' });
  await says(row, '400', 'Not HTTP', 'Nothing to do');
  await hasNoBarriers(ui.page, 'a refusal');
  await ui.page.setViewportSize({ width: 900, height: 700 });
  const width = async () => (await row.boundingBox()).width;
  await eventually('the row is as wide as a narrow window', async () => (await width()) > 700);
});

story('the audit trail is filtered and saved', async (stage) => {
  const { hookmitt, ui, ids } = await opened(stage);
  await hookmitt.api.ask('DELETE', `/api/events/${ids[0]}`);
  await shown(ui, '/order/2');
  await ui.page.keyboard.press('Delete');
  await says(link(ui, 'Trash'), '2');
  await ui.go('#/settings/audit');
  const rows = ui.page.getByRole('row').filter({ hasText: 'Deleted' });
  await counts(rows, 2);
  await hasNoBarriers(ui.page, 'the audit trail');
  await ui.page.getByLabel(/^Who:/).click();
  await ui.page.getByRole('option', { name: 'The API' }).click();
  await counts(rows, 1);
  await says(rows, 'The API', '#1');
  const download = ui.page.waitForEvent('download');
  await ui.button('Save as JSON lines').click();
  assert.equal((await download).suggestedFilename(), 'hookmitt-audit.jsonl');
  await ui.page.getByLabel(/^Who:/).click();
  await ui.page.getByRole('option', { name: 'Retention' }).click();
  await sees(ui.page.getByText('No entry matches'));
});

story('a source of the left pane narrows the search, and what comes in beyond it counts', async (stage) => {
  const { hookmitt, ui } = await opened(stage);
  await ui.search.fill('order');
  await ui.search.press('Enter');
  await link(ui, 'shop').click();
  await sees(ui.button('Remove order'));
  await hookmitt.post('chat', { path: '/hello', body: '{}' });
  await eventually('the new source is listed with its number', async () => /1/.test(await link(ui, 'chat').textContent()));
  await ui.hasRows(2);
});
