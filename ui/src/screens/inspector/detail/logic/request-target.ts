import type { Event } from '../../../../api/shapes';

/** What an event's request line asks for at a target: the target's path, then the event's; its query, then the event's. */
export function requestTarget({ path, query }: Pick<Event, 'path' | 'query'>, target: string): string {
  const [, base = '', own = ''] = /^https?:\/\/[^/?#]*([^?#]*)(?:\?([^#]*))?/.exec(target) ?? [];
  const joined = path === '' ? base : base.replace(/\/$/, '') + path;
  const queries = [own, query ?? ''].filter(Boolean).join('&');
  return `${joined || '/'}${queries ? `?${queries}` : ''}`;
}
