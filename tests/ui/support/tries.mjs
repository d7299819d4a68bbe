// Plays stories as tests of Node's runner. A browser on a busy machine can fail for reasons outside our control, so in
// CI a failed story is played once more, alone, after all others. It passes with a visible notice, or fails for good.
import { appendFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';

/** Why a story that failed at first is not counted yet: its second try counts. */
export const LATER = 'failed; it is played once more after all others';

/** The name of the test that contains the second tries; it is not a story itself. */
export const SECOND_TRIES = 'second tries';

const twice = process.env.CI === 'true';

/** Plays the stories, then the failed ones. `skip` says why none can run; `close` ends what the stories share. */
export function playAll(stories, { perform, concurrency, skip, close }) {
  const failed = [];
  describe('the web UI', () => {
    after(close);
    describe('first tries', { concurrency }, () => {
      for (const story of stories) test(story.name, { skip }, (t) => firstTry(t, story));
    });
    test(SECOND_TRIES, async (t) => {
      for (const story of failed) await t.test(story.name, () => secondTry(story));
    });
  });

  async function firstTry(t, { name, play }) {
    try {
      await perform(play);
    } catch (error) {
      if (!twice) throw error;
      failed.push({ name, play, error });
      t.skip(LATER);
    }
  }

  async function secondTry({ name, play, error: first }) {
    try {
      await perform(play);
    } catch (error) {
      throw new Error(`it failed twice. At first:\n${first.message}\n\nthen:\n${error.message}`);
    }
    tell(`flaky: ${name} passed at its second try, its first failure was: ${first.message.replaceAll('\n', '\n  ')}`);
  }
}

/** Reports a text where people see it, or where scripts/test.sh counts it. */
function tell(text) {
  if (process.env.HOOKMITT_FLAKY) appendFileSync(process.env.HOOKMITT_FLAKY, `${text}\n`);
  else console.log(text);
}
