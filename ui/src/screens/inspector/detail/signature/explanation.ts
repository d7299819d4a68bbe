import { api, ask } from '../../../../api/client';
import type { components } from '../../../../api/schema.gen';

type Schemas = components['schemas'];

export type Explanation = Schemas['Explanation'];
export type TriedCause = Schemas['ExplainedCause'];
export type SignedPiece = Schemas['ContentPart'];
export type FixLine = Schemas['FixLine'];
export type Framework = Schemas['FrameworkFix'];

/** Explains an event's verdict; with `secret`, as if the event had been signed with that secret. */
export function explain(id: string, secret: string | null, signal: AbortSignal): Promise<Explanation> {
  const params = { path: { id }, query: secret === null ? {} : { secret } };
  return ask(api.GET('/api/events/{id}/explanation', { params, signal }));
}
