import { SvelteMap } from 'svelte/reactivity';

import { Problem } from '../api/client';
import { cancelJob, listFailures, listJobs, readJob, resumeJob, undoJob } from '../api/jobs';
import type { Job, JobFailure } from '../api/shapes';
import { canUndo, isOpen, jobName, jobResult } from '../format/job';
import { route } from './route.svelte';
import { toasts } from './toasts.svelte';

/** How many jobs are read. */
const PAGE = 100;

/** What failed in a job, as far as it was read. */
export interface Failures {
  items: JobFailure[];
  /** Where the next page begins; null if there is none now. */
  next: string | null;
}

interface Pace {
  at: number;
  done: number;
  /** How many are done in a second. */
  rate: number;
}

/** The jobs of the last 7 days, newest first. */
class Jobs {
  list = $state.raw<Job[]>([]);
  /** The jobs were read once. */
  loaded = $state(false);
  /** Why the last read failed. */
  problem = $state.raw<Problem | null>(null);
  /** The jobs that wait or run, oldest first. */
  readonly open = $derived(this.list.filter(isOpen).reverse());
  /** Who says what came of jobs of a kind, if that is more than a number of events. */
  readonly tellers = new Map<string, (job: Job) => void>();
  #failures = new SvelteMap<number, Failures>();
  #paces = new SvelteMap<number, Pace>();

  /** Reads the jobs again. */
  async read(): Promise<void> {
    try {
      this.list = await listJobs(PAGE);
      this.loaded = true;
      this.problem = null;
    } catch (error) {
      this.problem = Problem.of(error);
    }
  }

  /** Returns one job. */
  one(id: number): Job | undefined {
    return this.list.find((job) => job.id === id);
  }

  /** Reads a job that isn't among the newest. */
  async find(id: number): Promise<void> {
    if (!this.one(id)) this.#put(await readJob(id));
  }

  /** Returns how many a running job does in a second; null if that isn't known yet. */
  rate(id: number): number | null {
    return this.#paces.get(id)?.rate || null;
  }

  /** Takes a job that changed, and says so if it has just ended. */
  apply(job: Job): void {
    const before = this.one(job.id);
    this.#put(job);
    this.#measure(job);
    if (this.#failures.has(job.id) && job.failed > (before?.failed ?? 0)) void this.readFailures(job.id);
    if ((!before || isOpen(before)) && !isOpen(job)) this.#tell(job);
  }

  /** Cancels a job. */
  cancel(job: Job): Promise<void> {
    return this.#ask(job, cancelJob, 'cancelled');
  }

  /** Goes on with a job. */
  resume(job: Job): Promise<void> {
    return this.#ask(job, resumeJob, 'resumed');
  }

  /** Restores what a job deleted, as another job. */
  undo(job: Job): Promise<void> {
    return this.#ask(job, undoJob, 'restored');
  }

  /** Returns what failed in a job; undefined until it was read. */
  failures(id: number): Failures | undefined {
    return this.#failures.get(id);
  }

  /** Reads the next page of what failed in a job, after what was read before. */
  async readFailures(id: number): Promise<void> {
    const known = this.#failures.get(id) ?? { items: [], next: null };
    const last = known.items.length === 0 ? null : String(known.items.length);
    const page = await listFailures(id, last, PAGE).catch(() => null);
    const now = this.#failures.get(id)?.items ?? [];
    if (page && now.length === known.items.length)
      this.#failures.set(id, { items: [...now, ...page.items], next: page.next_cursor });
  }

  #put(job: Job) {
    const known = this.list.some(({ id }) => id === job.id);
    this.list = known
      ? this.list.map((one) => (one.id === job.id ? job : one))
      : [job, ...this.list].sort((a, b) => b.id - a.id);
  }

  #measure({ id, done, state }: Job) {
    const [last, at] = [this.#paces.get(id), performance.now()];
    if (state !== 'running') return void this.#paces.delete(id);
    if (!last) return void this.#paces.set(id, { at, done, rate: 0 });
    if (at - last.at < 1_000) return;
    this.#paces.set(id, { at, done, rate: Math.round(((done - last.done) * 1_000) / (at - last.at)) });
  }

  #tell(job: Job) {
    const tell = this.tellers.get(job.kind);
    if (tell) return tell(job);
    const action = {
      label: 'Show',
      run: () => route.go({ screen: 'jobs', id: job.id }),
    };
    const undo = canUndo(job) ? () => void this.undo(job) : undefined;
    if (job.state === 'done') return toasts.say(jobResult(job), { action, undo });
    if (job.state === 'failed') toasts.fail(`${jobName(job)} failed: ${job.why ?? ''}`, { action });
  }

  async #ask(job: Job, order: (id: number) => Promise<Job>, what: string) {
    try {
      this.#put(await order(job.id));
    } catch (error) {
      toasts.fail(`Not ${what}: ${Problem.of(error).detail}`, {
        retry: () => void this.#ask(job, order, what),
      });
    }
  }
}

export const jobs = new Jobs();
