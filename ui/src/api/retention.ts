import { api, ask } from './client';
import type { components } from './schema.gen';

/** How long events are kept. */
export type Retention = components['schemas']['Retention'];

/** A change to how long events are kept. */
export type KeepChange = components['schemas']['KeepChange'];

/** Returns how long events are kept. */
export function readRetention(): Promise<Retention> {
  return ask(api.GET('/api/retention'));
}

/** Changes how long events are kept, and returns what holds from now on. */
export function changeRetention(change: KeepChange): Promise<Retention> {
  return ask(api.PATCH('/api/retention', { body: change }));
}
