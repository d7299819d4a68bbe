// The second try that a story gets in CI.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { story } from '../support/stage.mjs';

const support = fileURLToPath(new URL('../support/', import.meta.url));

function play(stories, env) {
  const args = [`--test-reporter=${support}reporter.mjs`, `${support}three_stories.mjs`, ...stories];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: { ...process.env, ...env } }, (error, said) => {
      resolve({ status: error?.code ?? 0, said, result: /^test result: .*? ignored;/m.exec(said)?.[0] });
    });
  });
}

story('a story that fails in CI is played once more, and that is told', async (stage) => {
  const folder = mkdtempSync(join(tmpdir(), 'hookmitt-ui-'));
  stage.leaves(() => rmSync(folder, { recursive: true }));
  const list = join(folder, 'flaky.txt');
  const inCi = { CI: 'true', HOOKMITT_FLAKY: list };

  const shaky = await play(['sound', 'shaky'], inCi);
  assert.equal(shaky.result, 'test result: ok. 2 passed; 0 failed; 0 ignored;', shaky.said);
  assert.equal(shaky.status, 0);
  const told = 'flaky: shaky passed at its second try, its first failure was: no window\n  at first\n';
  assert.equal(readFileSync(list, 'utf8'), told);
  assert.ok((await play(['shaky'], { CI: 'true', HOOKMITT_FLAKY: '' })).said.includes(told));

  const broken = await play(['broken', 'shaky'], inCi);
  assert.equal(broken.result, 'test result: FAILED. 1 passed; 1 failed; 0 ignored;', broken.said);
  assert.equal(broken.status, 1);
  assert.match(broken.said, /it failed twice\. At first:\nnever works\n\nthen:\nnever works/);

  const elsewhere = await play(['shaky'], { CI: '', HOOKMITT_FLAKY: list });
  assert.equal(elsewhere.result, 'test result: FAILED. 0 passed; 1 failed; 0 ignored;', elsewhere.said);
  assert.equal(elsewhere.status, 1);
});
