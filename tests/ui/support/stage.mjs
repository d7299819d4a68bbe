// What a story plays on: it asks for a hookmitt, local servers and pages, and all of it goes when the story ends.
import { openPage } from './browser.mjs';
import { Hookmitt } from './hookmitt.mjs';
import { Line } from './line.mjs';
import { LocalServer } from './server.mjs';
import { Ui } from './ui.mjs';

const written = [];

/** A story: its name reads as a sentence. */
export const story = (name, play) => written.push({ name, play });

/** Every story that was written, in order. */
export const stories = () => written;

/** One story's stage. */
export class Stage {
  #leaving = [];
  #watches = [];

  /** A hookmitt on an empty folder. */
  async hookmitt() {
    const hookmitt = await Hookmitt.start();
    this.#leaving.push(() => hookmitt.remove());
    return hookmitt;
  }

  /** A local server. */
  async server() {
    const server = await LocalServer.start();
    this.#leaving.push(() => server.stop());
    return server;
  }

  /** A line between a page and its hookmitt, which can be cut: `open(hookmitt, { proxy: line.url })`. */
  async line() {
    const line = await Line.start();
    this.#leaving.push(() => line.cut().catch(() => {}));
    return line;
  }

  /** Does something when the story ends. */
  leaves(leave) {
    this.#leaving.push(leave);
  }

  /** The UI of a hookmitt, opened with a one-time code. */
  async open(hookmitt, options = {}) {
    const ui = await this.page(hookmitt, options);
    await ui.page.goto(await hookmitt.freshUrl());
    await ui.ready();
    return ui;
  }

  /** A page that has not gone anywhere yet. */
  async page(hookmitt, options = {}) {
    const { page, watch, close } = await openPage(hookmitt.api.url, options);
    this.#leaving.push(close);
    this.#watches.push(watch);
    return new Ui(page, watch, hookmitt);
  }

  /** Ends everything, whatever fails; answers the failures, those of pages that did what they should not included. */
  async end() {
    const failures = [];
    for (const leave of this.#leaving.reverse()) await attempt(leave, failures);
    for (const watch of this.#watches) await attempt(() => watch.assertQuiet(), failures);
    return failures;
  }
}

async function attempt(what, failures) {
  try {
    await what();
  } catch (error) {
    failures.push(error);
  }
}

/** Plays a story from its beginning to its end. What its pages did wrong is told with what failed. */
export async function perform(play) {
  const stage = new Stage();
  const failures = [];
  await attempt(() => play(stage), failures);
  failures.push(...(await stage.end()));
  if (failures.length) throw new Error(failures.map((error) => error.stack).join('\n\n'));
}
