// The UI as users find their way in it: by roles, names and words.
import { counts, sees } from './see.mjs';
import { eventually } from './wait.mjs';

/** One page with the UI. */
export class Ui {
  constructor(page, watch, hookmitt) {
    this.page = page;
    this.watch = watch;
    this.hookmitt = hookmitt;
    this.list = page.getByRole('region', { name: 'Events', exact: true }).locator('[role=listbox][data-first]');
    this.rows = this.list.getByRole('option');
    this.detail = page.getByRole('region', { name: 'Event', exact: true }).first();
    this.panel = this.detail.getByRole('tabpanel').first();
    this.search = page.getByRole('combobox', { name: 'Search events' });
  }

  /** Waits until the first screen is visible: the list, or the page of the first run. */
  async ready() {
    await this.list.or(this.page.getByRole('heading', { name: 'Ready to catch' })).first().waitFor();
  }

  /** The rows that have this text. */
  row(text) {
    return this.rows.filter({ hasText: text });
  }

  /** The row that is selected. */
  get selected() {
    return this.list.getByRole('option', { selected: true });
  }

  /** A button, by its name. */
  button(name, within = this.page) {
    return within.getByRole('button', { name });
  }

  /** Selects a row, and waits until the detail pane shows that event. */
  async select(text) {
    const row = this.row(text).first();
    await row.click();
    await eventually(`${text} is selected`, async () => (await row.getAttribute('aria-selected')) === 'true');
    await sees(this.detail);
  }

  /** Opens a tab of the detail pane. */
  async tab(name) {
    const tab = this.detail.getByRole('tab', { name });
    await tab.click();
    await eventually(`the tab ${name} is open`, async () => (await tab.getAttribute('aria-selected')) === 'true');
    return this.panel;
  }

  /** Chooses one of a few visible options. */
  async choose(group, name) {
    await this.page.getByRole('radiogroup', { name: group }).getByText(name, { exact: true }).click();
  }

  /** Scrolls the list down to this position. */
  async scrollTo(top) {
    await this.list.evaluate((list, top) => { list.scrollTop = top; }, top);
  }

  /** Goes to a place by its hash, as a link does. */
  async go(hash) {
    await this.page.evaluate((hash) => { location.hash = hash; }, hash);
  }

  /** Returns the clipboard's text. The context needs the permission. */
  clipboard() {
    return this.page.evaluate(() => navigator.clipboard.readText());
  }

  /** Waits until the list has this many rows. */
  async hasRows(count) {
    await counts(this.rows, count);
  }

  /** Waits until at least this many rows are rendered: a long list renders only visible ones. */
  async hasRowsBeyond(count) {
    await eventually(`${count} rows or more are drawn`, async () => (await this.rows.count()) >= count);
  }
}
