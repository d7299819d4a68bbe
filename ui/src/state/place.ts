import type { Part } from '../api/sync';

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
  | SyncPlace
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
  if (screen === 'sync') return parseSync(rest, asked);
  if (screen === 'tunnels') return { screen, id: rest[0] ?? null, gap: Number(asked.get('gap')) || null };
  const [id = null, tab = null] = rest;
  const [view, source, q] = [asked.get('view'), asked.get('source'), asked.get('q')];
  return { screen: 'events', id, tab, view, source, q };
}

/** Formats a place as a hash. */
export function format(place: Place): string {
  if (place.screen === 'start' || place.screen === 'refusals') return `#/${place.screen}`;
  if (place.screen === 'jobs') return `#/jobs/${place.id}`;
  if (place.screen === 'sync') return formatSync(place);
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

/** A place on the screen of backup sync. */
export interface SyncPlace {
  screen: 'sync';
  source: string | null;
  /** For how many days the provider's events are counted. */
  days: number;
  /** The part of the events that is listed; null for none. */
  part: Part | null;
  /** The day of that part; null for all days. */
  day: string | null;
  /** Whether the settings are to be seen. */
  settings: boolean;
}

/** For how many days events may be counted; the second is usual. */
export const SPANS = [1, 7, 30] as const;

function parseSync([source, section]: string[], asked: URLSearchParams): SyncPlace {
  const [days, part] = [Number(asked.get('days')), asked.get('part')];
  return {
    screen: 'sync',
    source: source ?? null,
    days: SPANS.find((span) => span === days) ?? SPANS[1],
    part: part === 'both' || part === 'only_there' || part === 'only_here' ? part : null,
    day: part === null ? null : asked.get('day'),
    settings: section === 'settings',
  };
}

function formatSync({ source, days, part, day, settings }: SyncPlace): string {
  const path = ['#/sync', source === null ? '' : encodeURIComponent(source), settings ? 'settings' : ''];
  const query = new URLSearchParams();
  if (days !== SPANS[1]) query.set('days', String(days));
  if (part) query.set('part', part);
  if (part && day) query.set('day', day);
  const asked = query.toString();
  return path.filter(Boolean).join('/') + (asked ? `?${asked}` : '');
}

/** The screen of backup sync with a source, or with the first one. */
export function syncPlace(source: string | null, more: Partial<SyncPlace> = {}): SyncPlace {
  return { screen: 'sync', source, days: SPANS[1], part: null, day: null, settings: false, ...more };
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
