import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { curlLine, curlWords, quoted } from './curl';

test('the line reads as the picture shows it', () => {
  expect(curlLine('http://127.0.0.1:4400/stripe')).toBe(
    `curl http://127.0.0.1:4400/stripe -d '{"hello":"hookmitt"}'`,
  );
  expect(curlWords('http://x/y').at(-1)?.kind).toBe('string');
});

test.each(["it's", '$(id)', '`id`', 'a b', '"', '\\', '!x', '*?[a]', 'a\nb', '', '~', '#x', '&& id'])(
  'a shell reads %j back as it was',
  (word) => {
    expect(execFileSync('sh', ['-c', `printf %s ${quoted(word)}`]).toString()).toBe(word);
  },
);
