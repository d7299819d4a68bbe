import type { Gap, Tunnel } from '../../api/shapes';
import { count, counted } from '../../format/count';
import { duration } from '../../format/duration';
import { clockTime } from '../../format/time';
import { dayOf, gapSentence, moment, span, whyOf } from '../../format/gap';
import { sentence } from '../../setup/calls';

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
    full: 'The channel parses JSON and writes it again, so signatures can’t verify. Anyone who knows its URL sees what is sent. The sender hears the channel’s answer, never this app’s. Nothing is kept: what is sent while this computer is offline is lost.',
  },
  cloudflared: {
    brief: 'Quick public URL',
    full: 'The URL changes on every start. Nothing is kept: what is sent while this computer is offline is lost, unless the provider sends it again.',
  },
  ngrok: {
    brief: 'Quick public URL',
    full: 'Without a paid plan the URL can change and requests are limited. Nothing is kept: what is sent while this computer is offline is lost, unless the provider sends it again.',
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
  switch (tunnel.state) {
    case 'connected':
      if (tunnel.error) return { strong: `Connected since ${since}, with a problem.`, rest: '' };
      return { strong: `Connected since ${since}.`, rest: catchingUp(tunnel) ?? lastGap(tunnel, now, brief) };
    case 'limited':
      return { strong: `Connected since ${since}, with limits.`, rest: limited(tunnel) };
    case 'connecting':
      return { strong: `Connecting to ${other(tunnel)}.`, rest };
    case 'offline':
      return { strong: `Offline since ${since}${because(tunnel)}.`, rest };
    case 'refused':
      return { strong: `Refused by ${other(tunnel)} since ${since}.`, rest };
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

function lastGap({ gap }: Tunnel, now: number, brief: boolean): string {
  return gap === null || gap.until === null ? '' : `${gapSentence(gap, now, { because: !brief })}.`;
}

function limited(tunnel: Tunnel): string {
  const limits = limitsOf(tunnel);
  if (limits) return `${limits.brief}.`;
  return tunnel.refused.count > 0 ? 'The relay had to refuse requests.' : '';
}

function because({ kind, why }: Tunnel): string {
  if (why === 'asleep') return ', when the computer slept';
  if (why === 'network') return ': the network is cut';
  if (why !== 'relay') return '';
  if (kind === 'relay') return ': the relay does not answer';
  return kind === 'smee' ? ': the channel does not answer' : `: ${kind} does not run`;
}

/** Says what becomes of events while the tunnel is not connected. */
function kept(tunnel: Tunnel, brief: boolean): string {
  if (tunnel.kind !== 'relay')
    return brief ? 'What is sent is lost.' : 'What is sent meanwhile is lost: nobody keeps it.';
  if (tunnel.state === 'refused')
    return brief ? 'Nothing is caught up.' : 'Nothing is caught up until that is settled.';
  if (brief) return 'The relay keeps what arrives.';
  return 'The relay keeps what arrives, sealed, within its limits; it is caught up afterwards.';
}

/** Returns the second line of a tunnel in the list. */
export function listNote(tunnel: Tunnel, now: number): string {
  const limits = limitsOf(tunnel);
  const since = dayOf(Date.parse(tunnel.since), now, clockTime(tunnel.since));
  if (tunnel.state === 'off') return `${limits?.brief ?? tunnel.host}, off since ${since}`;
  return limits?.brief ?? tunnel.host;
}

/** Returns the text shown in place of gaps if there are none. */
export function noGaps({ kind }: Pick<Tunnel, 'kind'>, isOlder: boolean): string {
  const came = kind === 'relay' ? 'with what was caught up' : 'though nobody knows what was sent meanwhile';
  return `${isOlder ? 'None in 7 days.' : 'None so far.'} Being offline is noted here, ${came}.`;
}

/** Counts the tunnels by state: `1 connected, 1 limited, 1 off`. */
export function tally(tunnels: readonly Pick<Tunnel, 'state'>[]): string {
  const order: Tunnel['state'][] = ['connected', 'limited', 'connecting', 'offline', 'refused', 'off'];
  return order
    .map((state) => ({ state, n: tunnels.filter((tunnel) => tunnel.state === state).length }))
    .filter(({ n }) => n > 0)
    .map(({ state, n }) => `${count(n)} ${state}`)
    .join(', ');
}

/**
 * Returns gaps as they are shown. An open gap that is being caught up ends when the tunnel connected again. A gap is
 * stored when it has lasted for a while, so the present one may not be among them yet; the chart and the table both
 * have it.
 */
export function settled(
  gaps: readonly Gap[],
  { id, label, state, since, why }: Pick<Tunnel, 'id' | 'label' | 'state' | 'since' | 'why'>,
): Gap[] {
  const isUp = state === 'connected' || state === 'limited';
  const shown = gaps.map((gap) =>
    gap.until === null && isUp && since > gap.from ? { ...gap, until: since } : gap,
  );
  if (isUp || shown.some(({ until }) => until === null)) return shown;
  const open = { tunnel_id: id, label, from: since, until: null, caught_up: 0, lost: null, took_ms: null };
  return [
    { ...open, id: 0, why: state === 'off' ? 'off' : (why ?? 'network'), first_seq: null, last_seq: null },
    ...shown,
  ];
}

/** Says when a gap was, for its table: `Today 02:10–08:44`, `Mon 01:06–08:06`, `Today 02:10 until now`. */
export function gapWhen(gap: Gap, now: number): string {
  const from = Date.parse(gap.from);
  const words =
    gap.until === null
      ? `${moment(from, now, 'today')} until now`
      : span(from, Date.parse(gap.until), now, 'today');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Says in two or three words why there was a gap. A lasting gap has the tunnel's current reason. */
export function gapWhy(gap: Gap, { state }: Pick<Tunnel, 'state'>): string {
  return gap.until === null && state === 'refused' ? 'Relay refused' : whyOf(gap);
}

/** Says how long a gap was. */
export function gapLength(gap: Gap, now: number): string {
  return duration(Math.max(0, (gap.until === null ? now : Date.parse(gap.until)) - Date.parse(gap.from)));
}

/** Says how long catching up took: `0.2 s`. */
export function tookWords(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 10_000 ? `${(Math.max(ms, 50) / 1000).toFixed(1)} s` : duration(ms);
}

/** Sums up gaps: `9 in 7 days, 214 events caught up, 2 not recoverable`. */
export function gapSum(gaps: readonly Gap[]): string {
  const sum = (of: (gap: Gap) => number) => gaps.reduce((total, gap) => total + of(gap), 0);
  const [caught, lost] = [sum((gap) => gap.caught_up), sum((gap) => gap.lost ?? 0)];
  const parts = [`${count(gaps.length)} in 7 days`, `${counted(caught, 'event')} caught up`];
  return [...parts, ...(lost > 0 ? [`${count(lost)} not recoverable`] : [])].join(', ');
}

/** Says what happened to lost events, and what to do. */
export function lossNote(gap: Gap, now: number): string {
  const day = dayOf(Date.parse(gap.from), now, 'today');
  const [requests, them] =
    gap.lost === 1 ? ['1 request is', 'it'] : [`${count(gap.lost ?? 0)} requests are`, 'them'];
  const title = day.charAt(0).toUpperCase() + day.slice(1);
  return `${title}: ${requests} lost. The relay refused ${them} and told the sender so, or dropped ${them} after waiting too long, or what came could not be read. Most providers send again what was refused; resend the rest from the provider’s list of deliveries.`;
}

/** Says what the relay turned away since the tunnel was added, or what was unreadable; null if nothing was. */
export function turnedAway({ refused, unknown, spoilt }: Tunnel, now: number): string | null {
  const last =
    refused.last_at === null ? '' : `, the last one ${moment(Date.parse(refused.last_at), now, 'today')}`;
  const parts = [
    refused.count > 0 &&
      `${counted(refused.count, 'request')} went over the relay’s limits and ${refused.count === 1 ? 'was' : 'were'} refused, or dropped after waiting too long${last}: raise them at the relay, or catch up more often.`,
    spoilt.count > 0 &&
      `${counted(spoilt.count, 'event')} came through and could not be read: ${spoilt.count === 1 ? 'it is' : 'they are'} gone. Resend ${spoilt.count === 1 ? 'it' : 'them'} from the provider’s list of deliveries.`,
    unknown > 0 &&
      `${counted(unknown, 'request')} named a source that is not here and got a 404: nothing of ${unknown === 1 ? 'it' : 'them'} was kept. Add the source, or mend the URL at the provider.`,
  ];
  const said = parts.filter(Boolean).map((part) => sentence(String(part)));
  return said.length > 0 ? said.join(' ') : null;
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
      ? 'What waits at the relay is unknown now, and is lost to this computer. '
      : waiting.letters > 0
        ? `${counted(waiting.letters, 'event')} that ${waiting.letters === 1 ? 'waits' : 'wait'} at the relay ${waiting.letters === 1 ? 'is' : 'are'} lost to this computer. `
        : '';
  return `This computer leaves ${at} for good and its key to the mailbox is deleted. ${waits}What providers send there no longer arrives here, and the name is not given out again. Events in the inbox stay.`;
}

/** Says what follows if the relay could not be told that this computer left. */
export function notTold(tunnel: Tunnel): string {
  return `${other(tunnel)} could not be told. It keeps storing and acknowledging events until it forgets this computer in 30 days. Remove its URL from your providers’ settings.`;
}
