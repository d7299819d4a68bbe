import type { Event } from '../api/shapes';

type Handler = (event: Event) => void;

const handlers = new Map<string, Set<Handler>>();

/** Calls back whenever an event, or one of its repeats, is stored or changes; until the answer is called. */
export function onEvent(id: string, handler: Handler): () => void {
  const all = handlers.get(id) ?? new Set();
  handlers.set(id, all.add(handler));
  return () => {
    all.delete(handler);
    if (all.size === 0 && handlers.get(id) === all) handlers.delete(id);
  };
}

/** Tells those who wait for an event, or for the first of its kind. */
export function notify(event: Event): void {
  const ids = event.duplicate_of ? [event.id, event.duplicate_of] : [event.id];
  for (const id of ids) for (const handler of [...(handlers.get(id) ?? [])]) handler(event);
}
