import { expect, test } from 'vitest';

import type { SenderAnswer } from '../../../../api/shapes';
import { answeredIn, answeredSentence, answeredText } from './answered';

const ours = (status: number, after_ms: number): SenderAnswer => ({ by: 'hookmitt', status, after_ms });
const others = (by: SenderAnswer['by']): SenderAnswer => ({ by, status: null, after_ms: null });

test.each([
  [ours(200, 3), 'answered 200', '3 ms', 'answered 200 after 3 ms'],
  [ours(202, 0), 'answered 202', '< 1 ms', 'answered 202 after < 1 ms'],
  [ours(401, 1_840), 'answered 401', '1.84 s', 'answered 401 after 1.84 s'],
  [others('relay'), 'answered by the relay', '', 'answered by the relay'],
  [
    { by: 'relay', status: 201, after_ms: 40 } as const,
    '201 passed to the relay',
    '40 ms',
    '201 passed to the relay after 40 ms',
  ],
  [others('channel'), 'answered by the channel', '', 'answered by the channel'],
])('%o', (answered, text, took, sentence) => {
  const event = { answered };
  expect([answeredText(event), answeredIn(event), answeredSentence(event)]).toEqual([text, took, sentence]);
});

test('where nobody asked, or it isn’t known, the event is stored', () => {
  const none = { answered: null };
  expect([answeredText(none), answeredIn(none), answeredSentence(none)]).toEqual(['stored', '', null]);
});
