// Runs every story of the web UI, in one process with one browser: node stories.mjs [part of a name]
import { appendFileSync, existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';

import './stories/arrival.mjs';
import './stories/curl.mjs';
import './stories/delivery.mjs';
import './stories/detours.mjs';
import './stories/first_run.mjs';
import './stories/handshake.mjs';
import './stories/host.mjs';
import './stories/hostile.mjs';
import './stories/jobs.mjs';
import './stories/keeping.mjs';
import './stories/keyboard.mjs';
import './stories/live.mjs';
import './stories/look.mjs';
import './stories/move.mjs';
import './stories/relay.mjs';
import './stories/repeats.mjs';
import './stories/search.mjs';
import './stories/session.mjs';
import './stories/settings.mjs';
import './stories/signature.mjs';
import './stories/signing_settings.mjs';
import './stories/sync.mjs';
import './stories/tries.mjs';
import './stories/tunnels.mjs';
import { chromiumPath, closeBrowser } from './support/browser.mjs';
import { perform, stories } from './support/stage.mjs';
import { playAll } from './support/tries.mjs';

/** Says why no story can run here. On Debian and in CI that is a failure, elsewhere it is recorded as a skip. */
function lacking() {
  if (chromiumPath()) return undefined;
  const missing = 'Chromium is missing: scripts/setup.sh brings it on Debian, HOOKMITT_CHROMIUM names another';
  if (process.env.CI === 'true' || existsSync('/etc/debian_version')) throw new Error(missing);
  if (process.env.HOOKMITT_SKIPPED) appendFileSync(process.env.HOOKMITT_SKIPPED, `${missing}\n`);
  return missing;
}

const [part = ''] = process.argv.slice(2);
const wanted = stories().filter(({ name }) => name.includes(part));
const concurrency = Number(process.env.HOOKMITT_UI_JOBS ?? Math.min(4, availableParallelism()));

playAll(wanted, { perform, concurrency, skip: lacking(), close: closeBrowser });
