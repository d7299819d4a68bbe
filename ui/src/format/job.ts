import type { Job } from '../api/shapes';
import { sentence } from '../format/words';
import { count, counted } from './count';
import { dateTime } from './time';

interface Words {
  /** While it runs. */
  doing: string;
  /** Once it is done. */
  done: string;
  /** What became of the deliveries. */
  deliveries: string;
}

const KINDS: Record<string, Words> = {
  delete: { doing: 'Delete', done: 'deleted', deliveries: 'ended' },
  restore: { doing: 'Restore', done: 'restored', deliveries: 'wait again' },
  backup: { doing: 'Backup', done: 'backed up', deliveries: 'backed up' },
  prune: { doing: 'Prune', done: 'deleted for good', deliveries: 'deleted' },
  empty: { doing: 'Empty the trash', done: 'deleted for good', deliveries: 'deleted' },
  retry: { doing: 'Retry', done: 'retried', deliveries: 'wait again' },
  sync: { doing: 'Sync', done: 'added', deliveries: 'wait' },
};

/** A retry of what a sync added and kept: none of it was sent before. */
const DELIVER: Words = { doing: 'Deliver', done: 'queued', deliveries: 'wait' };

function wordsOf({ kind, asked }: Job): Words {
  if (kind === 'retry' && asked.synced_by != null) return DELIVER;
  return KINDS[kind] ?? { doing: kind, done: 'changed', deliveries: 'changed' };
}

/** Whether a job waits or runs. */
export const isOpen = ({ state }: Job): boolean => state === 'waiting' || state === 'running';

/** Whether a job ended before it was done, so that it can go on. */
export const canGoOn = ({ state }: Job): boolean =>
  state === 'failed' || state === 'cancelled' || state === 'stopped';

/** Whether a job has deleted something that can be restored. */
export const canUndo = (job: Job): boolean =>
  job.kind === 'delete' && !isOpen(job) && (job.result.events ?? 0) > 0;

/** Names what a job does: `Delete`. */
export const jobName = (job: Job): string => wordsOf(job).doing;

/**
 * Names which events a job is about: its search, its source or time, or how many were named; empty if it is about none
 * in particular.
 */
export function jobAbout({ asked }: Job): string {
  if (asked.deleted_by != null) return `what job ${asked.deleted_by} deleted`;
  if (asked.synced_by != null) return `what sync ${asked.synced_by} added`;
  if (asked.dry_run) return `${asked.source ?? ''}, only showing what is missing`;
  if (asked.q != null) return asked.q;
  if (asked.events != null) return counted(asked.events, 'event');
  if (asked.becomes != null) return asked.becomes;
  return [asked.source ?? '', asked.until == null ? '' : `before ${dateTime(asked.until)}`]
    .filter(Boolean)
    .join(', ');
}

/** Says how far a job is: `412 of 10,000`; nobody knows how long a provider's list is, so of a sync `412 checked`. */
export function jobProgress(job: Job): string {
  if (job.state === 'waiting') return 'Waiting';
  if (job.kind === 'sync' && job.total == null) return `${count(job.done)} checked`;
  if (job.total == null) return job.state === 'running' ? 'Counting' : count(job.done);
  return `${count(job.done)} of ${count(job.total)}`;
}

/** Returns how much of a job is done, from 0 to 1; null if nobody knows. */
export function jobShare({ kind, state, done, total }: Job): number | null {
  if (total == null) return state === 'done' ? 1 : kind === 'sync' && state === 'running' ? null : 0;
  return total === 0 ? 1 : Math.min(1, done / total);
}

/** Says what a job has changed so far: `1,204 events deleted, 3 deliveries ended, 2 failed`. */
export function jobResult(job: Job): string {
  if (job.asked.dry_run) return `${counted(job.done, 'event')} checked, nothing added`;
  const { done, deliveries } = wordsOf(job);
  const parts = [`${counted(job.result.events ?? 0, 'event')} ${done}`];
  const many = job.result.deliveries ?? 0;
  if (many > 0)
    parts.push(
      `${counted(many, 'delivery', 'deliveries')} ${many === 1 ? deliveries.replace('wait', 'waits') : deliveries}`,
    );
  if (job.failed > 0) parts.push(`${count(job.failed)} failed`);
  return parts.join(', ');
}

const STATES: Record<Job['state'], string> = {
  waiting: 'Waiting',
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
  stopped: 'Stopped',
};

/** Names the state of a job. */
export const jobState = ({ state }: Job): string => STATES[state];

/** Says why a job isn't going on, or what it waits for; null if there is nothing to say. */
export function jobNote(job: Job): string | null {
  if (job.state === 'waiting') return 'It begins when another job has ended.';
  if (job.state === 'stopped') return 'Hookmitt ended while it ran.';
  if (job.state === 'cancelled') return 'What was done stays.';
  return job.why == null ? null : sentence(job.why);
}

/** Says what the actions of a job's page do; null if it has none. */
export function jobActions(job: Job): string | null {
  if (isOpen(job)) return 'Cancel ends it. What is done by then stays.';
  if (canGoOn(job)) return 'Resume goes on from there; nothing is repeated or skipped.';
  return canUndo(job) ? 'Restore brings back just the events that it deleted.' : null;
}
