import type { Event } from '../../../../api/shapes';

/** Returns an event's request target at a target URL: both paths joined, and both queries, the target's part first. */
export function requestTarget({ path, query }: Pick<Event, 'path' | 'query'>, target: string): string {
  const [, base = '', own = ''] = /^https?:\/\/[^/?#]*([^?#]*)(?:\?([^#]*))?/.exec(target) ?? [];
  const joined = path === '' ? base : base.replace(/\/$/, '') + path;
  const queries = [own, query ?? ''].filter(Boolean).join('&');
  return `${joined || '/'}${queries ? `?${queries}` : ''}`;
}
