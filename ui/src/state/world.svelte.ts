import { clock } from './clock.svelte';
import { connection } from './connection.svelte';
import { sources } from './sources.svelte';
import { stats } from './stats.svelte';
import { tunnels } from './tunnels.svelte';
import type { World } from './world';

/** Returns all that is known now of an event's way. */
export function world(): World {
  return {
    now: clock.now,
    isConnected: connection.state !== 'lost',
    captures: stats.now ? sources.capture.length > 0 : null,
    events: stats.now ? stats.events : null,
    queued: stats.queued,
    came: stats.came(clock.now),
    tunnels: tunnels.loaded ? tunnels.list : null,
    isUnread: tunnels.problem !== null,
    targets: sources.targets,
    waiting: new Map(stats.now?.targets.map((target) => [target.target_id, target.waiting])),
  };
}
