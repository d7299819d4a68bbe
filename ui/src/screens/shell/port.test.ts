import { expect, test } from 'vitest';
import { portIn, portProblem, suggestedPort } from './port';

test('a port is a number that providers can keep', () => {
  expect(portProblem('4400')).toBeNull();
  for (const wrong of ['', 'x', '0', '80', '65536', '4400x', '-1']) expect(portProblem(wrong)).not.toBeNull();
});

test('a message says which port it is about', () => {
  expect(portIn('port 4400 is taken by another program')).toBe(4400);
  expect(portIn('can’t listen on 127.0.0.1:4400')).toBe(4400);
  expect(portIn('the disk is full')).toBeNull();
});

test('another port is suggested', () => {
  expect(suggestedPort(4400)).toBe(4500);
  expect(suggestedPort(65_500)).toBe(65_400);
});
