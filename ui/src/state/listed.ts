/** What the tests of the list share: events, and a list of three that is read from no API. */

import { beforeEach, vi } from 'vitest';

import type { CopyList, EventPage } from '../api/events';
import type { Event } from '../api/shapes';

/** Answers for the API. */
export const listEvents =
  vi.fn<(filter: object, piece: { cursor?: string | number | null }) => Promise<EventPage>>();
export const copiesOf = vi.fn<(id: string) => Promise<CopyList>>();
vi.mock('../api/events', () => ({ listEvents, copiesOf }));
export const { events, onEvent } = await import('./events.svelte');

/** Returns an event with this number. */
export const event = (seq: number, change: Partial<Event> = {}) =>
  ({
    id: `e${seq}`,
    seq,
    source: 'demo',
    type: 'push',
    title: null,
    headers: [],
    causes: [],
    duplicate_of: null,
    deleted_at: null,
    parent: null,
    handshake: null,
    verdict: 'valid',
    status: 'captured',
    received_at: '2026-11-20T09:00:00.000000Z',
    ...change,
  }) as Event;

/** Returns a page of these events, the last one of its list. */
export const page = (...items: Event[]): EventPage => ({ items, next_cursor: null, searched_to: null });

/** Returns the numbers of the rows, from the top. */
export const numbers = () => events.slice(0, events.length).map((row) => row?.seq);

/** Lets what is put off for a moment happen. */
export const settle = () => vi.advanceTimersByTimeAsync(100);

/** Lists three events before each test. */
export function listsThree(): void {
  beforeEach(async () => {
    vi.useFakeTimers();
    listEvents.mockReset().mockResolvedValue(page(event(3), event(2), event(1)));
    events.live = true;
    events.scrolled(true);
    void events.show({});
    await settle();
  });
}
