import type { NoConnection, Tunnel, Why } from '../api/shapes';
import { capital } from './words';

/** Why nobody could be reached: one word per reason, the same wherever it shows. */
const UNREACHED: Record<NoConnection, string> = {
  connection_refused: 'connection refused',
  unknown_name: 'name not found',
  no_route: 'no route',
  no_answer: 'no answer in time',
  untrusted: 'certificate not trusted',
  broken_off: 'connection broken off',
  hindered: 'could not be tried',
};

/** Says why nobody could be reached at a target: `connection refused`. */
export function unreached(why: NoConnection): string {
  return UNREACHED[why];
}

type Kind = Tunnel['kind'];

const OUTAGE: Record<Why, string | Record<Kind, string>> = {
  asleep: 'computer asleep',
  network: 'network cut',
  app_closed: 'app closed',
  off: 'turned off',
  connection_refused: UNREACHED.connection_refused,
  unknown_name: UNREACHED.unknown_name,
  no_answer: UNREACHED.no_answer,
  untrusted: UNREACHED.untrusted,
  denied: 'relay refused',
  hindered: 'can’t run here',
  relay: {
    relay: 'relay fault',
    smee: 'channel fault',
    cloudflared: 'cloudflared isn’t connected',
    ngrok: 'ngrok isn’t connected',
  },
  not_running: {
    relay: 'relay isn’t running',
    smee: 'channel isn’t running',
    cloudflared: 'cloudflared isn’t running',
    ngrok: 'ngrok isn’t running',
  },
};

/** Reasons with words of their own in a sentence about the past, after `Offline 02:10–08:44`. */
const WHILE: Partial<Record<Why, string>> = {
  asleep: ' while the computer slept',
  network: ' while the network was cut',
  app_closed: ' while the app was closed',
  off: ' while it was off',
};

/** Reasons with words of their own in a sentence about now, after `Offline since 02:10`. */
const SINCE: Partial<Record<Why, string>> = {
  asleep: ', when the computer slept',
  network: ': the network is cut',
  app_closed: ', when the app was closed',
  off: ', when it was turned off',
};

/** Says in two or three words why a tunnel was offline: `connection refused`. */
export function outage(why: Why, kind: Kind): string {
  const words = OUTAGE[why];
  return typeof words === 'string' ? words : words[kind];
}

/** Says the same at the beginning of a line; a program keeps its name as it is written. */
export function outageLabel(why: Why, kind: Kind): string {
  const words = outage(why, kind);
  const isProgram = kind === 'cloudflared' || kind === 'ngrok';
  return isProgram && words.startsWith(kind) ? words : capital(words);
}

/** Continues a sentence about a period that is over: ` while the computer slept`, `, connection refused`. */
export function outageThen(why: Why, kind: Kind): string {
  return WHILE[why] ?? `, ${outage(why, kind)}`;
}

/** Continues a sentence about a period that lasts: `, when the computer slept`, `: connection refused`. */
export function outageNow(why: Why, kind: Kind): string {
  return SINCE[why] ?? `: ${outage(why, kind)}`;
}

/** Whether a reason stays the gap's whatever keeps the connection from coming back afterwards. */
function stays(why: Why): boolean {
  return why === 'asleep' || why === 'app_closed' || why === 'off';
}

/** Why there is no connection: how it was lost, and what else keeps it from coming back; null if nothing is known. */
export interface Outage {
  why: Why | null;
  /** The present hindrance, if it is another than the reason for which the connection was lost. */
  now: Why | null;
}

/** Returns why a tunnel has no connection at present. Every place that tells of it asks here. */
export function outageOf({ state, why, hindrance }: Pick<Tunnel, 'state' | 'why' | 'hindrance'>): Outage {
  if (state === 'off') return { why: 'off', now: null };
  if (why !== null && stays(why)) return { why, now: hindrance === why ? null : hindrance };
  return { why: hindrance ?? why, now: null };
}
