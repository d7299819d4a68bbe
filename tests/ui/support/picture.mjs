// Pictures of a page, by name, and the sizes that they are taken at.
import { fileURLToPath } from 'node:url';

import { sees } from './see.mjs';

/** Where they are kept. */
export const folder = fileURLToPath(new URL('../screenshots', import.meta.url));

/** Window sizes: three panes, a rail with two, one pane. */
export const [WIDE, NARROW, PHONE] = [[1440, 900], [900, 700], [600, 800]];

/** How a page for pictures is opened. */
export const LOOK = { scale: 2, size: WIDE };

const [part = ''] = process.argv.slice(2);

/** Takes a picture, once fonts are there and nothing is busy. */
export async function picture(ui, name) {
  if (!name.includes(part)) return;
  await ui.page.evaluate(() => document.fonts.ready);
  await ui.page.mouse.move(0, 0);
  await ui.page.screenshot({ path: `${folder}/${name}.png`, animations: 'disabled' });
  console.log(`${name}.png`);
}

/** Gives a page its theme and its size. */
export async function settle(ui, theme, size = WIDE) {
  await ui.page.emulateMedia({ colorScheme: theme });
  await ui.page.setViewportSize({ width: size[0], height: size[1] });
}

/** Takes one in both themes, where `hash` leads, once `text` stands there. */
export async function both(ui, name, hash, text, size = WIDE) {
  for (const theme of ['dark', 'light']) {
    await settle(ui, theme, size);
    await ui.go(hash);
    await sees(ui.page.getByText(text).first());
    await picture(ui, `${name}-${theme}`);
  }
}
