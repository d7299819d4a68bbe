import fc from 'fast-check';

import type { Gap, NoConnection, Target, Tunnel, Why } from '../../api/shapes';
import type { History } from '../../state/history';
import type { Came, World } from '../../state/world';
import { now, target, tunnel, world } from '../../state/examples';

/** A tunnel as hookmitt may tell of it, with the gaps that were read of it. */
export interface Drawn {
  tunnel: Tunnel;
  history: History | undefined;
}

/** A state of everything that the page tells of. */
export interface Scene {
  world: World;
  drawn: readonly Drawn[];
}

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;

const at = (ms: number) => new Date(ms).toISOString();

/** What each hindrance says of itself as an error. */
const ERRORS: Partial<Record<Why, string>> = {
  network: 'no route to relay.acme.dev',
  connection_refused: 'connection refused by relay.acme.dev',
  unknown_name: 'the name relay.acme.dev does not resolve',
  no_answer: 'the relay did not answer within 10 s',
  untrusted: 'the relay can’t be trusted: UnknownIssuer',
  relay: 'the relay’s connection ended: it broke off',
  not_running: 'cloudflared isn’t running: it is not installed',
};

const hindrance = fc.constantFrom<Why>(
  'network',
  'connection_refused',
  'unknown_name',
  'no_answer',
  'untrusted',
  'relay',
  'not_running',
);

type Trouble = Pick<Tunnel, 'state' | 'why' | 'hindrance' | 'error' | 'stores'>;

const error = (code: string, message: string) => ({ code, message, hint: null });
const fine = { why: null, hindrance: null, error: null, stores: true };

function up(kind: Tunnel['kind']): fc.Arbitrary<Trouble> {
  const state = kind === 'smee' ? ('limited' as const) : ('connected' as const);
  return fc.constantFrom(
    { ...fine, state },
    { ...fine, state },
    { ...fine, state, stores: false, error: error('disk-full', 'the disk is full') },
    { ...fine, state, error: error('letter-unreadable', 'a letter could not be read') },
  );
}

/** The reason of a gap is the latest that was found, unless it is one that stays. */
const offline: fc.Arbitrary<Trouble> = fc
  .record({
    state: fc.constantFrom('offline' as const, 'offline' as const, 'connecting' as const),
    began: fc.constantFrom<Why | null>('asleep', 'app_closed', 'network', 'relay', 'no_answer', null),
    tried: fc.option(hindrance),
  })
  .map(({ state, began, tried }) => ({
    ...fine,
    state,
    why: began ?? tried,
    hindrance: tried,
    error: tried && error('relay-unreachable', ERRORS[tried]!),
  }));

const refused: fc.Arbitrary<Trouble> = fc
  .constantFrom<Why>('denied', 'hindered', 'relay')
  .map((why) => ({ ...fine, state: 'refused', why, hindrance: why, error: error('x', 'it is so') }));

const off: fc.Arbitrary<Trouble> = fc.constant({ ...fine, state: 'off' });

const trouble = (kind: Tunnel['kind']) =>
  fc.oneof({ weight: 4, arbitrary: up(kind) }, { weight: 4, arbitrary: offline }, refused, off);

/** Some moments between two others, in order. */
const between = (from: number, to: number, most: number) =>
  fc
    .array(fc.integer({ min: from, max: Math.max(from, to) }), { maxLength: most })
    .map((all) => all.sort((a, b) => a - b));

const whys = fc.constantFrom<Why>('asleep', 'app_closed', 'off', 'network', 'connection_refused', 'relay');

function closedGaps(id: number, kind: Tunnel['kind'], from: number, to: number): fc.Arbitrary<Gap[]> {
  return between(from, to, 12).chain((moments) => {
    const pairs = moments.flatMap((began, n) =>
      n % 2 === 0 && moments[n + 1] !== undefined ? [[began, moments[n + 1]!]] : [],
    );
    const each = pairs.map(([began, ended], n) =>
      fc
        .record({ why: whys, caught: fc.nat(40), lost: fc.constantFrom(0, 0, 2) })
        .map(({ why, caught, lost }) => ({
          id: 10 * id + n + 1,
          tunnel_id: id,
          label: 'acme-dev',
          from: at(began!),
          until: at(ended!),
          why,
          caught_up: kind === 'relay' ? caught : 0,
          lost: kind === 'relay' ? lost : null,
          synced: null,
          unrecoverable: null,
          took_ms: 200,
          first_seq: null,
          last_seq: null,
        })),
    );
    return fc.tuple(...each).map((gaps) => gaps.reverse());
  });
}

/** Whether the gap that goes on is stored, and since when it does where the connection was lost again meanwhile. */
const openGap = fc.record({ isStored: fc.boolean(), before: fc.nat(DAY), caught: fc.nat(40), why: whys });

/** What there is of a tunnel's history on the page: nothing yet, the newest page, or everything. */
const read = fc.constantFrom('nothing', 'a page', 'all', 'all', 'all');

function drawnTunnel(id: number): fc.Arbitrary<Drawn> {
  return fc
    .record({
      kind: fc.constantFrom<Tunnel['kind']>('relay', 'relay', 'smee', 'cloudflared', 'ngrok'),
      age: fc.oneof(fc.integer({ min: SECOND, max: DAY }), fc.integer({ min: DAY, max: 20 * DAY })),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .chain(({ kind, age, share }) => {
      const created = now - age;
      const since = Math.round(created + age * share);
      return fc
        .record({
          trouble: trouble(kind),
          closed: closedGaps(id, kind, created, since),
          open: openGap,
          letters: fc.constantFrom(0, 0, 1, 1204),
          rtt: fc.option(fc.integer({ min: 1, max: 900 })),
          last: fc.option(fc.oneof(fc.nat(50 * SECOND), fc.nat(age))),
          read,
        })
        .map((of) => {
          const isUp = of.trouble.state === 'connected' || of.trouble.state === 'limited';
          const newest = of.closed[0];
          const earliest = newest ? Date.parse(newest.until!) : created;
          // While a tunnel is offline, hookmitt tells the beginning of its open gap.
          const mayBeEarlier = isUp || of.trouble.state === 'refused' || of.trouble.state === 'off';
          const from = mayBeEarlier ? Math.max(earliest, since - of.open.before) : since;
          const { why } = of.trouble;
          const open: Gap = {
            id: 10 * id + 9,
            tunnel_id: id,
            label: 'acme-dev',
            from: at(from),
            until: null,
            why: why ?? of.open.why,
            caught_up: isUp && kind === 'relay' ? of.open.caught : 0,
            lost: kind === 'relay' ? 0 : null,
            synced: null,
            unrecoverable: null,
            took_ms: null,
            first_seq: null,
            last_seq: null,
          };
          const isOpen =
            of.open.isStored &&
            (!isUp || kind === 'relay') &&
            (isUp || why !== null || of.trouble.state === 'off');
          const gaps = isOpen ? [open, ...of.closed] : of.closed;
          const one = tunnel({
            id,
            kind,
            host: `host-${id}.dev`,
            enabled: of.trouble.state !== 'off',
            created_at: at(created),
            since: at(since),
            ...of.trouble,
            rtt_ms: of.rtt,
            waiting: { letters: kind === 'relay' ? of.letters : 0, bytes: 0, oldest_at: null },
            last_event_at: of.last === null ? null : at(Math.max(created, now - of.last)),
            gap: gaps[0] ?? null,
          });
          return { tunnel: one, history: history(gaps, of.read) };
        });
    });
}

function history(gaps: readonly Gap[], how: string): History | undefined {
  if (how === 'nothing') return undefined;
  const few = gaps.slice(0, 2);
  const isCut = how === 'a page' && few.length < gaps.length;
  return { items: isCut ? few : gaps, next: isCut ? '7' : null, problem: null };
}

const targetState: fc.Arbitrary<Target['state']> = fc.oneof(
  fc.constant({ is: 'untried' as const }),
  fc.oneof(fc.nat(59 * SECOND), fc.nat(DAY)).map((ago) => ({ is: 'answered' as const, at: at(now - ago) })),
  fc
    .record({
      ago: fc.nat(DAY),
      why: fc.constantFrom<NoConnection>('connection_refused', 'unknown_name', 'no_route', 'no_answer'),
    })
    .map(({ ago, why }) => ({ is: 'silent' as const, since: at(now - ago), why, error: 'as it was told' })),
);

const aTarget = fc.record({
  port: fc.constantFrom(3000, 3000, 8787, 9000, 9001),
  paused: fc.constantFrom(false, false, true),
  state: targetState,
  waiting: fc.constantFrom(0, 0, 1, 4, 1204),
});

const came: fc.Arbitrary<Came[]> = fc.array(
  fc.record({
    at: fc.nat(90 * SECOND).map((ago) => now - ago),
    via: fc.constantFrom('direct' as const, 'tunnel' as const),
  }),
  { maxLength: 20 },
);

/** Any state that hookmitt can tell of. */
export const scenes: fc.Arbitrary<Scene> = fc
  .record({
    drawn: fc
      .integer({ min: 0, max: 3 })
      .chain((n) => fc.tuple(...Array.from({ length: n }, (_, i) => drawnTunnel(i + 1)))),
    targets: fc.array(aTarget, { maxLength: 5 }),
    came,
    rest: fc.record({
      isConnected: fc.constantFrom(true, true, true, false),
      captures: fc.constantFrom(true, true, false, null),
      events: fc.constantFrom(0, 0, 4812, null),
    }),
  })
  .map(({ drawn, targets, came, rest }) => {
    const waiting = new Map(targets.map((one, n) => [n + 1, one.waiting]));
    return {
      drawn,
      world: world({
        ...rest,
        came,
        tunnels: drawn.map((one) => one.tunnel),
        targets: targets.map(({ port, paused, state }, n) => target(n + 1, port, { paused, state })),
        queued: targets.reduce((sum, one) => sum + one.waiting, 0),
        waiting,
      }),
    };
  });
