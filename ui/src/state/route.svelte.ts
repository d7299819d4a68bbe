import { allEvents, type EventsPlace, format, parse, type Place } from './place';

export { allEvents, format, syncPlace } from './place';

class Route {
  place = $state.raw<Place>(parse(typeof location === 'undefined' ? '' : location.hash));

  constructor() {
    if (typeof window === 'undefined') return;
    window.addEventListener('hashchange', () => (this.place = parse(location.hash)));
  }

  /** The place on the events screen; on another screen, all events. */
  get events(): EventsPlace {
    return this.place.screen === 'events' ? this.place : allEvents;
  }

  /** Goes to a place. With `quietly`, it replaces the history entry instead of adding one. */
  go(place: Place, { quietly = false } = {}): void {
    const hash = format(place);
    if (hash === location.hash) return;
    if (quietly) history.replaceState(null, '', hash);
    else history.pushState(null, '', hash);
    this.place = place;
  }

  /** Shows one event, or none, without a history entry: moving through the list should not fill the history. */
  show(id: string | null, tab: string | null = this.events.tab): void {
    this.go({ ...this.events, id, tab }, { quietly: true });
  }

  /** Shows a tab of the current event. */
  tab(tab: string): void {
    this.go({ ...this.events, tab }, { quietly: true });
  }
}

export const route = new Route();
