// The stage of a story: it provides a hookmitt, local servers and pages, and removes all of them when the story ends.
import { openPage } from './browser.mjs';
import { Hookmitt } from './hookmitt.mjs';
import { Line } from './line.mjs';
import { Relay } from './relay.mjs';
import { textOf } from './see.mjs';
import { LocalServer } from './server.mjs';
import { Ui } from './ui.mjs';
import { LONG, within } from './wait.mjs';

/** How long a whole story may take on a slow machine. */
const STORY = 5 * LONG;

const written = [];

/** Resolves when the clipboard is free: all pages of a browser share one. */
let clipboard = Promise.resolve();

/** A story: its name reads as a sentence. */
export const story = (name, play) => written.push({ name, play });

/** Returns every story, in order. */
export const stories = () => written;

/** The stage of one story. */
export class Stage {
  #leaving = [];
  #watches = [];
  #pages = [];

  /** Starts a hookmitt on an empty folder. */
  async hookmitt(options) {
    const hookmitt = await Hookmitt.start(options);
    this.#leaving.push(() => hookmitt.remove());
    return hookmitt;
  }

  /** Starts a relay with an empty store. */
  async relay(flags) {
    const relay = await Relay.start(flags);
    this.#leaving.push(() => relay.remove());
    return relay;
  }

  /** Starts a local server. */
  async server() {
    const server = await LocalServer.start();
    this.#leaving.push(() => server.stop());
    return server;
  }

  /** Makes a connection between a page and its hookmitt that can be cut: `open(hookmitt, { proxy: line.url })`. */
  async line() {
    const line = await Line.start();
    this.#leaving.push(() => line.cut().catch(() => {}));
    return line;
  }

  /** Registers what to do when the story ends. */
  leaves(leave) {
    this.#leaving.push(leave);
  }

  /** Opens a hookmitt's UI with a one-time code. With `clipboard`, only this story may use the clipboard. */
  async open(hookmitt, options = {}) {
    const ui = await this.page(hookmitt, options);
    await ui.page.goto(await hookmitt.freshUrl());
    await ui.ready();
    return ui;
  }

  /** Opens a page that has not navigated anywhere yet. */
  async page(hookmitt, options = {}) {
    if (options.clipboard) await this.#hasClipboard();
    const { page, watch, close } = await openPage(hookmitt.api.url, options);
    this.#leaving.push(close);
    this.#watches.push(watch);
    this.#pages.push(page);
    return new Ui(page, watch, hookmitt);
  }

  /** Waits until the clipboard is free, and takes it until the story ends. */
  async #hasClipboard() {
    const before = clipboard;
    clipboard = new Promise((resolve) => this.leaves(resolve));
    await before;
  }

  /** Returns the URLs and texts of the pages, which help to understand a failure. */
  async looks() {
    const look = async (page) => `the page was at ${page.url()} and said: ${(await textOf(page.locator('body'))).slice(0, 2_000)}`;
    return (await Promise.all(this.#pages.map((page) => look(page).catch(String)))).join('\n\n');
  }

  /** Ends everything, whatever fails; returns the failures, including what pages did wrong. */
  async end() {
    const failures = [];
    for (const leave of this.#leaving.reverse()) await attempt(leave, failures);
    for (const watch of this.#watches) await attempt(() => watch.assertQuiet(), failures);
    return failures;
  }
}

async function attempt(what, failures, limit = LONG) {
  try {
    await within('the story goes on', Promise.resolve().then(what), limit);
  } catch (error) {
    failures.push(error);
  }
}

/** Plays a story from its beginning to its end. Failures are reported together with what its pages did wrong. */
export async function perform(play) {
  const stage = new Stage();
  const failures = [];
  await attempt(() => play(stage), failures, STORY);
  if (failures.length) await attempt(async () => failures.push({ stack: await stage.looks() }), failures);
  failures.push(...(await stage.end()));
  if (failures.length) throw new Error(failures.map((error) => error.stack).join('\n\n'));
}
