/** Where the page is: the screen, and what it shows. It lives in the URL's hash, so that Back and links work. */
export type Place =
  | {
      screen: 'events';
      id: string | null;
      tab: string | null;
      view: string | null;
      source: string | null;
      /** The search. */
      q: string | null;
    }
  | { screen: 'settings'; page: string }
  | { screen: 'tunnels'; id: string | null; gap: number | null }
  | { screen: 'jobs'; id: number }
  | { screen: 'refusals' }
  | { screen: 'start' };

/** Parses a hash such as `#/events/<id>/<tab>?view=invalid`. */
export function parse(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
  const [screen = '', ...rest] = path.split('/').filter(Boolean).map(decoded);
  const asked = new URLSearchParams(query);
  if (screen === 'settings') return { screen, page: rest.join('/') || 'sources' };
  if (screen === 'start' || screen === 'refusals') return { screen };
  if (screen === 'jobs' && Number(rest[0])) return { screen, id: Number(rest[0]) };
  if (screen === 'tunnels') return { screen, id: rest[0] ?? null, gap: Number(asked.get('gap')) || null };
  const [id = null, tab = null] = rest;
  const [view, source, q] = [asked.get('view'), asked.get('source'), asked.get('q')];
  return { screen: 'events', id, tab, view, source, q };
}

/** Formats a place as a hash. */
export function format(place: Place): string {
  if (place.screen === 'start' || place.screen === 'refusals') return `#/${place.screen}`;
  if (place.screen === 'jobs') return `#/jobs/${place.id}`;
  if (place.screen === 'settings')
    return `#/settings/${place.page.split('/').map(encodeURIComponent).join('/')}`;
  if (place.screen === 'tunnels') {
    const id = place.id === null ? '' : `/${encodeURIComponent(place.id)}`;
    return `#/tunnels${id}${place.gap === null ? '' : `?gap=${place.gap}`}`;
  }
  const path = ['#/events', place.id, place.id && place.tab]
    .filter(Boolean)
    .map((part, n) => (n ? encodeURIComponent(part!) : part));
  const query = new URLSearchParams();
  if (place.view) query.set('view', place.view);
  if (place.source) query.set('source', place.source);
  if (place.q) query.set('q', place.q);
  const asked = query.toString();
  return path.join('/') + (asked ? `?${asked}` : '');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A place on the screen of events. */
export type EventsPlace = Extract<Place, { screen: 'events' }>;

/** The list of all events, none of which is shown. */
export const allEvents: EventsPlace = {
  screen: 'events',
  id: null,
  tab: null,
  view: null,
  source: null,
  q: null,
};
