// Jobs that stand still, so that they can be looked at: the API's answers about them are replaced in the browser.

/** Makes a job that runs; `change` overrides its fields. */
export const job = (now, change = {}) => ({
  id: 12, kind: 'delete', asked: { q: 'source:stripe-test type:invoice', events: null }, asked_by: 'page', state: 'running', done: 412, total: 10_000, failed: 0,
  result: { events: 412, deliveries: 31 }, why: null, created_at: new Date(now - 9_000).toISOString(), started_at: new Date(now - 9_000).toISOString(), ended_at: null, ...change,
});

/** Gives a page these jobs, and what failed in them; returns them, so that they can be changed, and the page's orders. */
export async function pretendJobs(page, jobs, failures = []) {
  const told = { jobs, failures, orders: [] };
  const one = (url) => told.jobs.find(({ id }) => id === Number(/jobs\/(\d+)/.exec(url)[1]));
  await page.route('**/api/jobs?*', (route) => route.fulfill({ json: { items: told.jobs, next_cursor: null } }));
  await page.route('**/api/jobs/*/result*', (route) => {
    const { state, result } = one(route.request().url());
    return route.fulfill({ json: { state, result, items: told.failures, next_cursor: null } });
  });
  await page.route(/\/api\/jobs\/\d+(\/resume)?$/, (route) => {
    const [found, method] = [one(route.request().url()), route.request().method()];
    if (!found) return route.fulfill({ status: 404, contentType: 'application/problem+json', json: { type: 'about:blank', title: '', status: 404, code: 'unknown-job', detail: 'there is no such job', hint: null } });
    if (method !== 'GET') told.orders.push(method);
    if (method === 'DELETE') Object.assign(found, { state: 'cancelled' });
    if (method === 'POST') return route.fulfill({ status: 202, json: { job: Object.assign(found, { state: 'waiting' }) } });
    return route.fulfill({ json: found });
  });
  return told;
}
