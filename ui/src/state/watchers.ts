import type { Event } from '../api/shapes';

type Handler = () => void;

const handlers = new Map<string, Set<Handler>>();

/** Calls `handler` when an event or a duplicate of it is stored or changes, until the returned function is called. */
export function onEvent(id: string, handler: Handler): () => void {
  const all = handlers.get(id) ?? new Set();
  handlers.set(id, all.add(handler));
  return () => {
    all.delete(handler);
    if (all.size === 0 && handlers.get(id) === all) handlers.delete(id);
  };
}

/** Calls the handlers that watch an event, or the event of which it is a duplicate. */
export function notify(event: Pick<Event, 'id' | 'duplicate_of'>): void {
  const ids = event.duplicate_of ? [event.id, event.duplicate_of] : [event.id];
  for (const id of ids) for (const handler of [...(handlers.get(id) ?? [])]) handler();
}
