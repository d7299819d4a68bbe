import type { Gap, Tunnel } from '../../api/shapes';
import { count, counted } from '../../format/count';
import { clockTime } from '../../format/time';
import { dayOf, gapSentence, moment } from '../../format/gap';
import { conditionOf } from '../../format/tunnel';
import { outage, outageNow, outageOf } from '../../format/why';
import { sentence } from '../../format/words';

/** The limits of a tunnel that does not use a hookmitt relay. */
interface Limits {
  /** The text in the list of tunnels. */
  brief: string;
  /** The full text, shown when a kind is chosen and beside the tunnel. */
  full: string;
}

/** What users should know about each kind before they rely on it; a relay has no such limits. */
export const LIMITS: Record<Exclude<Tunnel['kind'], 'relay'>, Limits> = {
  smee: {
    brief: 'Rewrites JSON: signatures can’t verify',
    full: 'The channel parses JSON and writes it again, so signatures can’t verify. Anyone who knows its URL sees what is sent. The sender hears the channel’s answer, never this app’s. Nothing is stored: what is sent while this computer is offline is lost.',
  },
  cloudflared: {
    brief: 'Quick public URL',
    full: 'The URL changes on every start. Nothing is stored: what is sent while this computer is offline is lost, unless the provider sends it again.',
  },
  ngrok: {
    brief: 'Quick public URL',
    full: 'Without a paid plan the URL can change and requests are limited. Nothing is stored: what is sent while this computer is offline is lost, unless the provider sends it again.',
  },
};

/** Returns the limits of a tunnel; null for a hookmitt relay. */
export function limitsOf({ kind }: Pick<Tunnel, 'kind'>): Limits | null {
  return kind === 'relay' ? null : LIMITS[kind];
}

/** Returns the name of the relay or service in a sentence. */
function other(tunnel: Tunnel): string {
  return tunnel.host || tunnel.label;
}

/** The state of a tunnel: the fact in bold, then what it means. */
export interface StateSentence {
  strong: string;
  rest: string;
}

/** Says in one or two sentences how a tunnel is; with `brief`, in fewer words. */
export function stateSentence(tunnel: Tunnel, now: number, { brief = false } = {}): StateSentence {
  const since = moment(Date.parse(tunnel.since), now);
  const rest = kept(tunnel, brief);
  switch (conditionOf(tunnel)) {
    case 'connected':
      return { strong: `Connected since ${since}.`, rest: catchingUp(tunnel) ?? lastGap(tunnel, now, brief) };
    case 'problem':
      return { strong: `Connected since ${since}, with a problem.`, rest: '' };
    case 'limited':
      return { strong: `Connected since ${since}, limited.`, rest: limited(tunnel) };
    case 'connecting':
      return { strong: `Connecting to ${other(tunnel)}.`, rest };
    case 'offline':
      return { strong: `Offline since ${since}${because(tunnel)}.`, rest };
    case 'refused':
      return { strong: `Refused by ${other(tunnel)} since ${since}.`, rest };
    case 'stuck':
      return { strong: `Can’t connect since ${since}.`, rest };
    case 'off':
      // Another process runs the tunnel.
      if (tunnel.error && tunnel.enabled)
        return {
          strong: sentence(tunnel.error.message),
          rest: tunnel.error.hint ? sentence(tunnel.error.hint) : '',
        };
      return { strong: `Off since ${since}.`, rest };
  }
}

/** Says how far catching up has come; null if nothing waits at the relay. */
function catchingUp({ gap, waiting: { letters } }: Tunnel): string | null {
  if (letters === 0) return null;
  if (gap === null || gap.until !== null) return `${counted(letters, 'event')} on the way from the relay.`;
  return `${counted(gap.caught_up, 'event')} caught up so far, ${count(letters)} still at the relay.`;
}

function lastGap({ gap, kind }: Tunnel, now: number, brief: boolean): string {
  return gap === null || gap.until === null ? '' : `${gapSentence(gap, now, brief ? undefined : kind)}.`;
}

function limited(tunnel: Tunnel): string {
  const limits = limitsOf(tunnel);
  if (limits) return `${limits.brief}.`;
  return tunnel.refused.count > 0 ? 'The relay had to refuse requests.' : '';
}

function because(tunnel: Tunnel): string {
  const { why, now } = outageOf(tunnel);
  if (why === null) return '';
  return `${outageNow(why, tunnel.kind)}${now === null ? '' : `; now ${outage(now, tunnel.kind)}`}`;
}

/** Says what becomes of events while the tunnel is not connected. */
function kept(tunnel: Tunnel, brief: boolean): string {
  if (tunnel.kind !== 'relay')
    return brief ? 'What is sent is lost.' : 'What is sent meanwhile is lost: nothing stores it.';
  if (tunnel.state === 'refused')
    return brief ? 'Nothing is caught up.' : 'Nothing is caught up until this is resolved.';
  if (brief) return 'The relay stores what arrives.';
  return 'The relay stores what arrives, sealed and within its limits; it is caught up afterwards.';
}

/** Returns the second line of a tunnel in the list. */
export function listNote(tunnel: Tunnel, now: number): string {
  const limits = limitsOf(tunnel);
  const since = dayOf(Date.parse(tunnel.since), now, clockTime(tunnel.since));
  if (tunnel.state === 'off') return `${limits?.brief ?? tunnel.host}, off since ${since}`;
  return limits?.brief ?? tunnel.host;
}

/** Says what happened to lost events, and what to do. */
export function lossNote(gap: Pick<Gap, 'from' | 'lost'>, now: number): string {
  const day = dayOf(Date.parse(gap.from), now, 'today');
  const [requests, them] =
    gap.lost === 1 ? ['1 request is', 'it'] : [`${count(gap.lost ?? 0)} requests are`, 'them'];
  const title = day.charAt(0).toUpperCase() + day.slice(1);
  return `${title}: ${requests} lost. The relay refused ${them} and told the sender, or dropped ${them} after waiting too long, or what arrived could not be decrypted. Most providers send refused requests again; resend the rest from the provider’s list of deliveries.`;
}

/** Says what the relay turned away since the tunnel was added, or what was unreadable; null if nothing was. */
export function turnedAway({ refused, unknown, unserved, spoilt }: Tunnel, now: number): string | null {
  const last =
    refused.last_at === null ? '' : `, the last one ${moment(Date.parse(refused.last_at), now, 'today')}`;
  const parts = [
    refused.count > 0 &&
      `${counted(refused.count, 'request')} went over the relay’s limits and ${refused.count === 1 ? 'was' : 'were'} refused, or dropped after waiting too long${last}: raise them at the relay, or catch up more often.`,
    spoilt.count > 0 &&
      `${counted(spoilt.count, 'event')} could not be decrypted: ${spoilt.count === 1 ? 'it is' : 'they are'} lost. Resend ${spoilt.count === 1 ? 'it' : 'them'} from the provider’s list of deliveries.`,
    unknown > 0 &&
      `${counted(unknown, 'request')} named a source that doesn’t exist here${lately(unserved)} and got a 404. Nothing was stored. Add the source, or correct the URL at the provider.`,
  ];
  const said = parts.filter(Boolean).map((part) => sentence(String(part)));
  return said.length > 0 ? said.join(' ') : null;
}

/** Names the unknown sources that were called lately. */
function lately(names: readonly string[]): string {
  return names.length === 0 ? '' : ` (lately ${new Intl.ListFormat('en-GB').format(names)})`;
}

/** Says which sources a relay serves. */
export function servedSentence({ sources }: Pick<Tunnel, 'sources'>): string {
  if (sources.length === 0)
    return 'None chosen, so the relay serves every source, including those you add later.';
  const names = new Intl.ListFormat('en-GB').format(sources);
  return `The relay serves only ${names}.`;
}

/** Says what is lost when a tunnel is removed, and what stays. */
export function removalLoss({ kind, public_url: url, waiting, label, state }: Tunnel): string {
  if (kind !== 'relay') return `Its URL no longer leads here. Events in the inbox stay.`;
  const at = url ?? label;
  const waits =
    state !== 'connected'
      ? 'What waits at the relay is unknown, and is lost to this computer. '
      : waiting.letters > 0
        ? `${counted(waiting.letters, 'event')} that ${waiting.letters === 1 ? 'waits' : 'wait'} at the relay ${waiting.letters === 1 ? 'is' : 'are'} lost to this computer. `
        : '';
  return `This computer permanently leaves ${at}, and its key to the mailbox is deleted. ${waits}What providers send there no longer arrives here, and the name is never reused. Events in the inbox stay.`;
}

/** Says what follows if the relay could not be told that this computer left. */
export function notTold(tunnel: Tunnel): string {
  return `${other(tunnel)} could not be told. It keeps storing and acknowledging events until it forgets this computer in 30 days. Remove its URL from your providers’ settings.`;
}
