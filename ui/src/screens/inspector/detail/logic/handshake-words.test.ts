import { expect, it } from 'vitest';
import { answeredWords, offerWords } from './handshake-words';

it('says what a set-up request was answered, or why it was not', () => {
  expect(answeredWords({ status: 200 }, 'valid')).toBe('200 at once');
  expect(answeredWords({ status: 403 }, 'unsigned')).toBe('403: what it says is not what is set here.');
  expect(answeredWords({ status: 401 }, 'invalid')).toBe('401, as it wants to hear.');
  expect(answeredWords(null, 'invalid')).toBe('Not as asked: its signature is invalid.');
});

it('says what is left to be done by hand', () => {
  expect(offerWords('save_secret', 'Asana')).toBe('It brings the secret that Asana signs with from now on.');
  expect(offerWords('confirm', 'Amazon SNS')).toContain('Amazon SNS’s URL is called');
});
