import { expect, it } from 'vitest';
import { answeredWords, offerWords } from './handshake-words';

it('says what a set-up request was answered, or why it was not', () => {
  expect(answeredWords({ status: 200 }, 'valid')).toBe('200 at once');
  expect(answeredWords({ status: 403 }, 'unsigned')).toBe('403: the token it sent isn’t the one set here.');
  expect(answeredWords({ status: 401 }, 'invalid')).toBe('401, as it expects.');
  expect(answeredWords(null, 'invalid')).toBe('Not as requested: its signature is invalid.');
});

const from = { remote: '203.0.113.7:5555', at: 'today, 12:00:00' };

it('says what is left to be done by hand', () => {
  expect(offerWords('confirm', 'Amazon SNS', from)).toContain('until the URL in this request is called');
  expect(offerWords('save_secret', 'Asana', from)).toContain('the secret that Asana signs with from now on');
});

it('threat 11: says who sent a secret, and when', () => {
  expect(offerWords('save_secret', 'Asana', from)).toContain('Sent by 203.0.113.7:5555, today, 12:00:00.');
  expect(offerWords('save_secret', null, { ...from, remote: null })).toContain('Sent by an unknown address');
});
