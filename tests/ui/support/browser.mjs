// Debian's Chromium, started once per run; every page has its own context and is watched for unwanted behaviour.
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';

import { chromium } from 'playwright-core';

import { fromFolder } from './page_files.mjs';
import { LONG } from './wait.mjs';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** Returns Chromium's path: HOOKMITT_CHROMIUM, else the first on the PATH; undefined if there is none. */
export function chromiumPath() {
  const inPath = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [process.env.HOOKMITT_CHROMIUM, ...inPath].filter(Boolean).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Starts Chromium. */
export const launch = (flags = []) =>
  chromium.launch({ executablePath: chromiumPath(), args: [...FLAGS, ...flags], timeout: LONG });

let shared;

/** Returns the run's shared Chromium; starts another one if it did not start or is gone. */
export function browser() {
  if (shared) return shared;
  const started = launch();
  const forget = () => { if (shared === started) shared = undefined; };
  started.then((one) => one.on('disconnected', forget), forget);
  return (shared = started);
}

/** Closes Chromium if it was started. */
export const closeBrowser = async () => (await shared)?.close();

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Reports content security policy violations to the watcher; runs in every page before the page's own scripts. */
const reportViolations = () => {
  document.addEventListener('securitypolicyviolation', (event) => {
    window.hookmittViolation(`${event.violatedDirective}: ${event.blockedURI} ${event.sourceFile ?? ''}:${event.lineNumber}`);
  });
};

/** Adds a stack trace to warnings, because their text often doesn't say what the page was doing. */
const tellWhereFrom = () => {
  const warn = console.warn;
  console.warn = (...words) => warn(...words, new Error('warned').stack);
};

/** Records what a page did that it should not have done. */
export class Watch {
  trouble = [];
  #forgiven = [];

  constructor(page, origin) {
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.note(`console ${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.note(`uncaught: ${error.stack ?? error}`));
    page.on('dialog', (dialog) => {
      this.note(`dialog: ${dialog.message()}`);
      return dialog.dismiss();
    });
    page.on('popup', (popup) => this.note(`popup: ${popup.url()}`));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.origin !== origin && !['data:', 'blob:'].includes(url.protocol)) this.note(`request to elsewhere: ${url}`);
    });
  }

  note(line) {
    this.trouble.push(line);
  }

  /** Ignores messages that a story causes on purpose. */
  forgive(...patterns) {
    this.#forgiven.push(...patterns);
  }

  /** Fails if anything else was recorded. */
  assertQuiet() {
    const left = this.trouble.filter((line) => !this.#forgiven.some((pattern) => pattern.test(line)));
    if (left.length) throw new Error(`the page did what it should not:\n${left.join('\n')}`);
  }
}

/** Opens a page in its own context; returns `{ page, watch, close }`. A plain one has nothing added, and is as fast as it is. */
export async function openPage(origin, { theme = 'dark', size = [1440, 900], motion = 'no-preference', scale = 1, clipboard = false, proxy, plain = false } = {}) {
  const context = await (await browser()).newContext({
    viewport: { width: size[0], height: size[1] }, colorScheme: theme, reducedMotion: motion, deviceScaleFactor: scale,
    serviceWorkers: 'block', locale: 'en-GB', proxy: proxy && { server: proxy },
  });
  context.setDefaultTimeout(LONG);
  if (process.env.HOOKMITT_UI_DIST) await fromFolder(context, origin, process.env.HOOKMITT_UI_DIST);
  if (clipboard) await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  const page = await context.newPage();
  const watch = new Watch(page, origin);
  if (plain) return { page, watch, close: () => context.close() };
  await page.exposeBinding('hookmittViolation', (_source, line) => watch.note(`policy: ${line}`));
  await page.addInitScript(tellWhereFrom);
  await page.addInitScript(reportViolations);
  await page.addInitScript({ path: axe });
  return { page, watch, close: () => context.close() };
}
