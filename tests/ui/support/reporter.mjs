// Prints stories as cargo prints tests, so that one script can sum up both.
import { stripVTControlCharacters } from 'node:util';

import { LATER, SECOND_TRIES } from './tries.mjs';

const line = (data, outcome) => `test ui::${data.name} ... ${outcome}\n`;

/** Returns the reason of a failure, without the runner's own wrapping. */
const why = ({ details: { error } }) =>
  stripVTControlCharacters(String(error.cause?.message ?? error.cause ?? error.stack ?? error));

export default async function* report(source) {
  const begun = performance.now();
  const count = { passed: 0, failed: 0, ignored: 0 };
  const failures = [];
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if ((data.details.type === 'suite' || data.name === SECOND_TRIES) && type === 'test:pass') continue;
    if (data.details.error?.failureType === 'subtestsFailed') continue;
    if (data.skip === LATER) {
      yield line(data, LATER);
    } else if (data.skip !== undefined) {
      count.ignored += 1;
      yield line(data, `ignored, ${data.skip}`);
    } else if (type === 'test:pass') {
      count.passed += 1;
      yield line(data, `ok <${(data.details.duration_ms / 1000).toFixed(1)}s>`);
    } else {
      count.failed += 1;
      failures.push(`---- ${data.name} ----\n${why(data)}\n`);
      yield line(data, 'FAILED');
    }
  }
  if (failures.length) yield `\nfailures:\n\n${failures.join('\n')}\n`;
  const outcome = count.failed ? 'FAILED' : 'ok';
  const time = ((performance.now() - begun) / 1000).toFixed(2);
  yield `\ntest result: ${outcome}. ${count.passed} passed; ${count.failed} failed; ${count.ignored} ignored; 0 measured; 0 filtered out; finished in ${time}s\n`;
}
