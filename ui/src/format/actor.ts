import type { components } from '../api/schema.gen';

/** Who did something. */
export type Actor = components['schemas']['Actor'];

const NAMES: Record<Actor, string> = {
  window: 'the window',
  page: 'the page',
  cli: 'a command',
  api: 'the API',
  up: 'hookmitt up',
  retention: 'retention',
  schedule: 'the schedule',
};

/** All who can do something. */
export const ACTORS = Object.keys(NAMES) as Actor[];

/** Names who did something, within a sentence: `the page`. */
export function actorName(who: Actor): string {
  return NAMES[who];
}
