// Pictures of a page, by name, and the window sizes for them.
import { fileURLToPath } from 'node:url';

import { sees } from './see.mjs';

/** The folder for pictures. */
export const folder = fileURLToPath(new URL('../screenshots', import.meta.url));

/** Window sizes: three panes, a rail with two, one pane. */
export const [WIDE, NARROW, PHONE] = [[1440, 900], [900, 700], [600, 800]];

/** The options with which a page for pictures is opened. */
export const LOOK = { scale: 2, size: WIDE };

const [part = ''] = process.argv.slice(2);

/** Takes a picture, once fonts are loaded and nothing is busy. */
export async function picture(ui, name) {
  if (!name.includes(part)) return;
  await ui.page.evaluate(() => document.fonts.ready);
  await ui.page.mouse.move(0, 0);
  await ui.page.screenshot({ path: `${folder}/${name}.png`, animations: 'disabled' });
  console.log(`${name}.png`);
}

/** Sets a page's theme and size. */
export async function settle(ui, theme, size = WIDE) {
  await ui.page.emulateMedia({ colorScheme: theme });
  await ui.page.setViewportSize({ width: size[0], height: size[1] });
}

/** Takes a picture in both themes, at `hash`, once `text` is visible. */
export async function both(ui, name, hash, text, size = WIDE) {
  for (const theme of ['dark', 'light']) {
    await settle(ui, theme, size);
    await ui.go(hash);
    await sees(ui.page.getByText(text).first());
    await picture(ui, `${name}-${theme}`);
  }
}
