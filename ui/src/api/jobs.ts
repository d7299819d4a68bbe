import { api, ask } from './client';
import type { Job, JobFailure } from './shapes';

/** A page of what failed in a job. */
export interface FailurePage {
  items: JobFailure[];
  next_cursor: string | null;
}

/** Returns the newest jobs, newest first. */
export async function listJobs(limit: number): Promise<Job[]> {
  return (await ask(api.GET('/api/jobs', { params: { query: { limit } } }))).items as Job[];
}

/** Returns one job. */
export function readJob(id: number): Promise<Job> {
  return ask(api.GET('/api/jobs/{id}', { params: { path: { id } } }));
}

/** Returns a page of what failed in a job, in the order in which it failed. */
export async function listFailures(id: number, cursor: string | null, limit: number): Promise<FailurePage> {
  const query = cursor === null ? { limit } : { limit, cursor };
  const { items, next_cursor } = await ask(
    api.GET('/api/jobs/{id}/result', { params: { path: { id }, query } }),
  );
  return { items, next_cursor: next_cursor ?? null };
}

/** Cancels a job. What it has done stays. */
export function cancelJob(id: number): Promise<Job> {
  return ask(api.DELETE('/api/jobs/{id}', { params: { path: { id } } }));
}

/** Begins to restore what a job deleted. */
export async function undoJob(id: number): Promise<Job> {
  return (await ask(api.POST('/api/jobs/{id}/undo', { params: { path: { id } } }))).job;
}

/** Goes on with a job that ended before it was done. */
export async function resumeJob(id: number): Promise<Job> {
  return (await ask(api.POST('/api/jobs/{id}/resume', { params: { path: { id } } }))).job;
}
