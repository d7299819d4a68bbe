// Renders every screen from seeded data into tests/ui/screenshots: node screenshots.mjs [part of a name]
// If SCENE is set in the environment, only that scene is rendered.
import { mkdirSync } from 'node:fs';

import * as inbox from './scenes/inbox.mjs';
import * as jobs from './scenes/jobs.mjs';
import * as keeping from './scenes/keeping.mjs';
import * as search from './scenes/search.mjs';
import * as sources from './scenes/sources.mjs';
import * as sync from './scenes/sync.mjs';
import * as trust from './scenes/trust.mjs';
import * as tunnels from './scenes/tunnels.mjs';
import { closeBrowser } from './support/browser.mjs';
import { folder } from './support/picture.mjs';
import { Stage } from './support/stage.mjs';

const scenes = [inbox, jobs, keeping, search, sources, sync, trust, tunnels].flatMap((file) => Object.values(file));

mkdirSync(folder, { recursive: true });
let failed = false;
for (const scene of scenes.filter(({ name }) => name === (process.env.SCENE ?? name))) {
  const stage = new Stage();
  try {
    await scene(stage);
  } catch (error) {
    failed = true;
    console.error(`${scene.name}: ${error.stack}`);
  }
  await stage.end(); // the stories check for errors on a page
}
await closeBrowser();
process.exit(failed ? 1 : 0);
