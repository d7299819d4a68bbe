import { expect, test } from 'vitest';

import { sentence } from '../format/words';

test.each([
  ['no such source', 'No such source.'],
  ['where is it?', 'Where is it?'],
  ['relay.example.com does not answer', 'relay.example.com does not answer.'],
  ['https://a.example is no relay', 'https://a.example is no relay.'],
  ['it ended. then it came back', 'It ended. then it came back.'],
])('%j is said as %j', (text, said) => {
  expect(sentence(text)).toBe(said);
});
