// Backup sync in words. The command line uses the same ones.
import type { Connector, Day, Param, Part, Report, SyncDelivery, SyncView } from '../api/sync';
import type { Job } from '../api/shapes';
import { count, counted } from './count';
import { wait } from './duration';
import { moment } from './gap';
import { isOpen, jobProgress } from './job';
import type { Tone } from './tunnel';
import { sentence } from './words';

/** What a source lacks to be synced. */
export type Lack = 'provider' | 'connector' | 'key' | Param;

/** Says what a source lacks; null if nothing. */
export function lackOf(view: SyncView, provider: string | null): Lack | null {
  if (view.lacks === null) return null;
  const { connector } = view;
  if (!connector) return provider === null ? 'provider' : 'connector';
  return connector.params.find(isMissing) ?? 'key';
}

/** Whether a connector has to know something that nobody has said. */
export const isMissing = ({ value, default: usual, optional }: Param): boolean =>
  !optional && !value && usual == null;

/** Whether nobody knows an API to ask about a source. */
export const isOutOfReach = (view: SyncView): boolean => view.connector === null;

/** How a source stands, in one sentence. */
export interface SyncState {
  tone: Tone;
  icon: 'done' | 'key' | 'warn' | 'bad' | 'running' | 'waits' | 'none';
  strong: string;
  rest: string;
  /** In few words, for the list. */
  brief: string;
}

/** What is known of a source besides its settings. */
export interface Around {
  /** The source's provider. */
  provider: string | null;
  /** The provider's name, or whatever the API is called. */
  name: string;
  /** The newest sync of it, whether it runs or not. */
  job: Job | undefined;
  /** When it syncs next by itself; null if it doesn't. */
  due: number | null;
  now: number;
}

/** Why a sync ended that somebody cancelled. */
export const CANCELLED = 'it was cancelled';

/** Says how a source stands: what goes on, else what it lacks, else up to when it is complete. */
export function syncState(view: SyncView, around: Around): SyncState {
  const { job, name, due, now } = around;
  if (job && isOpen(job)) return underWay(job);
  const lack = lackOf(view, around.provider);
  if (lack) return lacking(lack, name);
  const next = due === null ? 'It syncs only when you ask for it.' : `${nextSync(due, now)}.`;
  const failed = view.failed ?? (job?.state === 'failed' ? (job.why ?? '') : null);
  if (failed !== null && failed !== CANCELLED)
    return state(
      'bad',
      'bad',
      'The last sync failed.',
      failed ? sentence(failed) : next,
      'the last sync failed',
    );
  if (view.synced_until === null)
    return state('none', 'none', 'Not synced yet.', due === null ? next : `${next}`, 'not synced yet');
  const until = moment(Date.parse(view.synced_until), now);
  return state('ok', 'done', `Complete until ${until}.`, next, `complete until ${until}`);
}

function state(tone: Tone, icon: SyncState['icon'], strong: string, rest: string, brief: string): SyncState {
  return { tone, icon, strong, rest, brief };
}

function underWay(job: Job): SyncState {
  if (job.state === 'waiting')
    return state('none', 'waits', 'Waiting.', 'It begins when another job has ended.', 'waits');
  const far = `${jobProgress(job)}.`;
  return state(
    'none',
    'running',
    job.asked.dry_run ? 'Looking:' : 'Syncing:',
    far,
    `syncing: ${jobProgress(job)}`,
  );
}

function lacking(lack: Lack, name: string): SyncState {
  switch (lack) {
    case 'provider':
      return state('none', 'none', 'No provider yet.', 'Nobody knows whose API to ask.', 'no provider yet');
    case 'connector':
      return state(
        'none',
        'none',
        'No API to ask.',
        `${name} has none that lists what it sends, as far as this hookmitt knows.`,
        'no API lists what it sends',
      );
    case 'key':
      return state(
        'warn',
        'key',
        'No API key.',
        `With one, ${name} is asked for what was missed.`,
        'no API key',
      );
    default:
      return state('warn', 'warn', `${lack.label} is missing.`, sentence(lack.hint), `lacks ${lack.label}`);
  }
}

/** Says when a source syncs by itself: `Next in 43 min`. */
export function nextSync(due: number, now: number): string {
  return due - now < 1_000 ? 'Next one now' : `Next in ${wait(due - now)}`;
}

/** Says in a word when a source syncs next, for the list. */
export function dueWord(view: SyncView, due: number | null, now: number): string {
  if (view.lacks !== null) return '';
  return due === null ? 'by hand' : due - now < 1_000 ? 'now' : wait(due - now);
}

/** A sync that asked for a time until now began at most this long after its end, in ms. */
const UNTIL_NOW = 120_000;

/** Says which time a sync looked at: `since Fri 18:00`, `from Fri 18:00 to Sat 02:00`. */
export function lookedAt({ since, until, began_at }: Report, now: number): string {
  const from = moment(Date.parse(since), now);
  if (Date.parse(began_at) - Date.parse(until) < UNTIL_NOW) return `since ${from}`;
  return `from ${from} to ${moment(Date.parse(until), now)}`;
}

const was = (n: number) => (n === 1 ? 'was' : 'were');

/** Says what a sync found: `Stripe had 214 events since Fri 18:00; 212 were here, 2 were added.` */
export function reportSentence(report: Report, name: string, now: number): string {
  const { checked, here, added, missing, lost } = report;
  const when = lookedAt(report, now);
  if (checked === 0) return `${name} had no event ${when}.`;
  const parts = [
    here === checked ? (here === 1 ? 'it was here' : 'all were here') : `${count(here)} ${was(here)} here`,
    added > 0 && `${count(added)} ${was(added)} added`,
    missing > 0 && `${count(missing)} ${missing === 1 ? 'is' : 'are'} missing`,
    lost > 0 && `${count(lost)} can’t be recovered`,
  ];
  return `${name} had ${counted(checked, 'event')} ${when}; ${parts.filter(Boolean).join(', ')}.`;
}

/** Says why a sync ended before everything was listed; null if everything was, or if it still runs. */
export function endedEarly({ why, ended_at }: Report, runs: boolean): string | null {
  if (why !== null) return sentence(why);
  return ended_at === null && !runs ? 'Hookmitt ended while it ran.' : null;
}

/** Says in few words what a sync found, for a message. */
export function reportBrief({ source, added, missing, lost, dry_run }: Report): string {
  const only = missing + lost === 0;
  const parts = [
    added > 0 && `${only ? counted(added, 'event') : count(added)} added`,
    missing > 0 && `${count(missing)} missing, nothing added`,
    lost > 0 && `${count(lost)} not recoverable`,
  ].filter(Boolean);
  return `${source}: ${parts.join(', ') || (dry_run ? 'nothing is missing' : 'nothing was missing')}`;
}

/** Names the action that delivers what a sync added and kept. */
export const deliverThese = (kept: number): string =>
  kept === 1 ? 'Deliver this one' : `Deliver these ${count(kept)}`;

/** Whether what a sync kept is offered to be delivered. */
export const isOffered = ({ kept }: Report, delivery: SyncDelivery): boolean =>
  kept > 0 && delivery !== 'keep';

/** The parts of a source's events, in the order in which they are always shown. */
export const PARTS: readonly { part: Part; label: string; says: string }[] = [
  { part: 'both', label: 'In both', says: 'Listed there, and here or once here' },
  { part: 'only_there', label: 'Only there', says: 'Listed there, and not here' },
  { part: 'only_here', label: 'Only here', says: 'Came in here, and not listed there' },
];

/** Names a part within a sentence: `only there`. */
export const partName = (part: Part): string => PARTS.find((one) => one.part === part)!.label.toLowerCase();

const dayWords = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric' });

/** Names a day of the API, `2026-11-25`: `Wed 25`. */
export function dayLabel(day: string): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return dayWords.format(new Date(year, month - 1, date)).replace(',', '');
}

/** Adds up days. */
export function daySum(days: readonly Day[]): Record<Part, number> {
  const sum = { both: 0, only_there: 0, only_here: 0 };
  for (const day of days) for (const { part } of PARTS) sum[part] += day[part];
  return sum;
}

/** How wide the bars of a day are, each from 0 to 1 of the fullest day's. */
export function dayBars(day: Day, days: readonly Day[]): { part: Part; share: number }[] {
  const most = Math.max(1, ...days.map(({ both, only_there, only_here }) => both + only_there + only_here));
  return PARTS.map(({ part }) => ({ part, share: day[part] / most })).filter(({ share }) => share > 0);
}

/** Returns the moment from which on days are counted: the midnight that begins the first, or 24 hours ago. */
export function spanStart(days: number, now: number): number {
  if (days === 1) return now - 24 * 60 * 60_000;
  const today = new Date(now);
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() - days + 1).getTime();
}

const EVERY: [seconds: number, label: string][] = [
  [900, 'Every 15 min'],
  [3_600, 'Every hour'],
  [21_600, 'Every 6 h'],
  [86_400, 'Every day'],
  [0, 'By hand only'],
];

/** Returns how often a source may sync, with what it is set to among it. */
export function everyOptions(now: number): { value: string; label: string }[] {
  const known = EVERY.some(([seconds]) => seconds === now);
  const all = known ? EVERY : [...EVERY, [now, `Every ${wait(now * 1000)}`] as [number, string]];
  return all.map(([seconds, label]) => ({ value: String(seconds), label }));
}

/** Says where a source's API key is. */
export function keyPlace({ key, key_env }: Pick<SyncView, 'key' | 'key_env'>): string {
  if (key === 'keychain') return 'Stored in the system keychain.';
  if (key === 'env') return `Read from the environment variable \`${key_env ?? ''}\`.`;
  return 'Stored unencrypted in a file that only you can read: no keychain is available.';
}

/** Says how sure we are of what is said of an API; null for a connector of the user's own. */
export function confidenceWords({ confidence, name }: Connector): string | null {
  if (confidence === null) return null;
  return confidence === 'confirmed'
    ? `Confirmed by ${name}’s own documentation and code.`
    : `Corroborated only: read in documentation and other people’s code, not in ${name}’s own.`;
}

/** Returns the hosts that a key is sent to, with what is known of their names filled in. */
export function hostsOf({ hosts, params }: Connector): string[] {
  const valueOf = (name: string) => params.find((param) => param.name === name)?.value;
  return hosts.map((host) => host.replace(/<(\w+)>/g, (whole, name: string) => valueOf(name) ?? whole));
}

const GIVES: Record<string, string> = {
  sent: 'what was sent, with its signature where it has one',
  event: 'the event, but not what was signed',
  object: 'what the event was about',
};

/** Says what an API gives. */
export const givesWords = ({ gives }: Connector): string => GIVES[gives] ?? gives;

/** Returns the newest sync of each source, from jobs that are sorted newest first. */
export function lastSyncs(jobs: readonly Job[]): Map<string, Job> {
  const last = new Map<string, Job>();
  for (const job of jobs) {
    const { source } = job.asked;
    if (job.kind !== 'sync' || source == null) continue;
    const known = last.get(source);
    // Of two, the one that runs is shown, although another waits behind it.
    if (!known || (job.state === 'running' && isOpen(known))) last.set(source, job);
  }
  return last;
}
