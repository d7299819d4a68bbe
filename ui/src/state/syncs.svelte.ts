import { Problem } from '../api/client';
import type { Job } from '../api/shapes';
import {
  beginSync,
  deliverReport,
  listReports,
  listSyncs,
  type Report,
  type SyncOrder,
  type SyncView,
} from '../api/sync';
import { isOpen } from '../format/job';
import { deliverThese, isOffered, lastSyncs, reportBrief } from '../format/sync';
import { sentence } from '../format/words';
import { term, joined } from '../search/quote';
import { jobs } from './jobs.svelte';
import { allEvents, route, syncPlace } from './route.svelte';
import { soon } from './soon';
import { toasts } from './toasts.svelte';

/** How every source is synced with its provider. */
class Syncs {
  list = $state.raw<readonly SyncView[]>([]);
  /** They were read once. */
  loaded = $state(false);
  /** Why the last read failed. */
  problem = $state.raw<Problem | null>(null);
  /** How many syncs and deliveries of what they added have ended: what was read of them before has changed. */
  ended = $state(0);
  /** The newest sync of each source. */
  readonly last = $derived(lastSyncs(jobs.list));
  /** The sources whose newest sync failed. */
  readonly failed = $derived(
    [...this.last].filter(([, { state }]) => state === 'failed').map(([source]) => source),
  );
  #readAt = 0;
  #watchers = 0;

  constructor() {
    jobs.tellers.set('sync', (job) => void this.#tell(job));
  }

  /** Reads them again soon, if they are shown. */
  readonly changed = soon(() => {
    if (this.#watchers > 0) void this.read();
  }, 150);

  /** Keeps them up to date until the returned function is called. */
  watch(): () => void {
    this.#watchers += 1;
    void this.read();
    return () => (this.#watchers -= 1);
  }

  async read(): Promise<void> {
    try {
      this.list = await listSyncs();
      this.#readAt = Date.now();
      [this.loaded, this.problem] = [true, null];
    } catch (error) {
      this.problem = Problem.of(error);
    }
  }

  /** Returns how one source is synced. */
  one(source: string): SyncView | undefined {
    return this.list.find((view) => view.source === source);
  }

  /** Whether a source can be synced. */
  can(source: string | null): boolean {
    return source !== null && this.one(source)?.lacks === null;
  }

  /** Returns the moment at which a source syncs by itself; null if it doesn't. */
  dueAt({ due_in_s: due }: SyncView): number | null {
    return due === null ? null : this.#readAt + due * 1_000;
  }

  /** Takes how a source is synced from now on. */
  apply(view: SyncView): void {
    this.list = this.list.map((one) => (one.source === view.source ? view : one));
    this.changed(); // when it is due depends on when that was read
  }

  /** Takes a job that changed. */
  saw(job: Job): void {
    const { kind, asked } = job;
    if (kind !== 'sync' && asked.synced_by == null) return;
    if (isOpen(job)) return this.changed();
    this.ended += 1;
    this.changed();
  }

  /** Begins to sync a source. Returns whether that worked; if not, a message says why. */
  async begin(source: string, order: SyncOrder = {}): Promise<boolean> {
    try {
      jobs.apply(await beginSync(source, order));
      this.changed();
      return true;
    } catch (error) {
      failed(`${source} is not synced`, error, () => void this.begin(source, order));
      return false;
    }
  }

  /** Begins to deliver what a sync added and kept. */
  async deliver(report: Report): Promise<void> {
    try {
      jobs.apply(await deliverReport(report.id));
    } catch (error) {
      failed('Not delivered', error, () => void this.deliver(report));
    }
  }

  /** Says what a sync found, once it has ended, and offers what can be done about it. */
  async #tell(job: Job) {
    const source = job.asked.source ?? '';
    // The schedule's syncs come by the hour: they are news only if they added something. That they fail, the navigation shows.
    const unasked = job.asked_by === 'api';
    if (job.state === 'cancelled' || (unasked && (job.state !== 'done' || job.result.events === 0))) return;
    const show = {
      label: 'Show',
      run: () => route.go(syncPlace(source)),
    };
    if (job.state === 'failed')
      return toasts.fail(`${source} is not synced: ${sentence(job.why ?? '')}`, { action: show });
    const { items } = await listReports(source, null, 20).catch(() => ({ items: [] }));
    const report = items.find((one) => one.job === job.id);
    if (!report) return;
    if (!this.one(source)) await this.read();
    const offered = isOffered(report, this.one(source)?.delivery ?? 'ask');
    const deliver = { label: deliverThese(report.kept), run: () => void this.deliver(report) };
    const see = {
      label: 'See them',
      run: () => route.go({ ...allEvents, q: addedBySync(source) }),
    };
    toasts.say(reportBrief(report), { action: offered ? deliver : report.added > 0 ? see : show });
  }
}

function failed(what: string, error: unknown, retry: () => void): void {
  const { detail, hint } = Problem.of(error);
  toasts.fail(`${what}: ${sentence(detail)}${hint ? ` ${sentence(hint)}` : ''}`, { retry });
}

/** Returns the search that finds what syncs added to a source. */
export function addedBySync(source: string): string {
  return joined(term('source', source), 'via:backup_sync');
}

export const syncs = new Syncs();
