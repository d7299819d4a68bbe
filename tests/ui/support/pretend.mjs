// Tunnels with a week's history, for which no test can wait: the API's answers about them are replaced in the browser.
// The stories with a real relay test what tunnels do.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Returns a time on a day before `now`. */
function ago(now, days, time) {
  const [hours, minutes] = time.split(':').map(Number);
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - days, hours, minutes).toISOString();
}

/** Makes a healthy tunnel to a relay; `change` overrides its fields. */
export const tunnel = (now, change = {}) => ({
  id: 1, kind: 'relay', label: 'acme-dev', tunnel: 'acme-dev', relay: 'https://relay.acme.dev', source: null, sources: [], host: 'relay.acme.dev',
  public_url: 'https://relay.acme.dev/acme-dev', enabled: true, state: 'connected', since: new Date(now - 16 * MINUTE).toISOString(),
  why: null, hindrance: null, stores: true, error: null, rtt_ms: 38, waiting: { letters: 0, bytes: 0, oldest_at: null }, to_acknowledge: 0,
  refused: { count: 0, last_at: null }, unknown: 0, unserved: [], spoilt: { count: 0, last_at: null }, last_event_at: new Date(now - 4_000).toISOString(),
  created_at: new Date(now - 40 * 24 * HOUR).toISOString(), gap: null, ...change,
});

/** Makes two devices of a tunnel; this one opened it. */
export const devices = () => {
  const device = (name, change) => ({
    id: name.repeat(64).slice(0, 64), name, since: '2026-10-12T08:00:00Z', last_seen_at: '2026-11-20T08:00:00Z', connected: true, owner: false, this: false, ...change,
  });
  return [device('laptop', { owner: true, this: true }), device('desktop', { connected: false })];
};

/** Makes a channel, which has limits. */
export const smee = (now, change = {}) => tunnel(now, {
  id: 2, kind: 'smee', label: 'smee channel', tunnel: null, relay: null, host: 'smee.io', public_url: 'https://smee.io/AbC123', source: 'stripe-test', state: 'limited', rtt_ms: null, ...change,
});

/** Makes a quick URL that is off. */
export const quick = (now, change = {}) => tunnel(now, {
  id: 3, kind: 'cloudflared', label: 'cloudflared', tunnel: null, relay: null, host: 'cloudflared', source: 'stripe-test', public_url: null, enabled: false, state: 'off', rtt_ms: null,
  since: ago(now, 1, '15:20'), last_event_at: null, ...change,
});

/** Makes a gap of tunnel 1. */
export const gap = (id, from, until, change = {}) => ({
  id, tunnel_id: 1, label: 'acme-dev', from, until, why: 'asleep', caught_up: 0, lost: 0, synced: null, unrecoverable: null, took_ms: 200, first_seq: null, last_seq: null, ...change,
});

/** Makes the gaps of a week, newest first; the newest ended 16 minutes ago. `last_seq` is the last event it brought. */
export function week(now, last_seq = null) {
  const row = (id, days, from, until, caught_up, change = {}) => gap(id, ago(now, days, from), ago(now, days, until), { caught_up, ...change });
  const back = new Date(now - 16 * MINUTE).toISOString();
  return [
    gap(9, new Date(now - 6 * HOUR - 50 * MINUTE).toISOString(), back, { caught_up: 37, first_seq: 1, last_seq }),
    row(8, 1, '01:54', '08:03', 41, { took_ms: 300 }),
    row(7, 2, '14:12', '14:17', 1, { why: 'network', took_ms: 100 }),
    row(6, 2, '00:36', '08:18', 29),
    row(5, 3, '01:06', '08:06', 22, { why: 'connection_refused', lost: 2 }),
    row(4, 4, '00:24', '11:12', 31),
    row(3, 5, '13:06', '19:00', 18, { why: 'app_closed', took_ms: 100 }),
    row(2, 5, '00:48', '10:24', 24),
    row(1, 6, '01:30', '08:12', 11, { took_ms: 100 }),
  ];
}

/** Gives a page these tunnels and gaps; returns them, so that they can be changed, and the orders of the page. */
export async function pretend(page, { tunnels, gaps = [] }) {
  const told = { tunnels, gaps, orders: [], refuse: null };
  const items = (list) => ({ json: { items: list, next_cursor: null } });
  const problem = ({ status, ...rest }) => ({ status, contentType: 'application/problem+json', json: { type: 'about:blank', title: '', status, ...rest } });
  await page.route('**/api/tunnels', (route) => {
    if (route.request().method() !== 'POST') return route.fulfill(items(told.tunnels));
    told.orders.push(route.request().postDataJSON());
    return route.fulfill(problem(told.refuse));
  });
  await page.route('**/api/gaps?*', (route) => route.fulfill(items(told.gaps.filter((one) => one.until && one.caught_up + one.lost > 0))));
  await page.route('**/api/tunnels/*/gaps?*', (route) => {
    const [, id] = /tunnels\/(\d+)\/gaps/.exec(route.request().url());
    return route.fulfill(items(told.gaps.filter((one) => one.tunnel_id === Number(id))));
  });
  await page.route('**/api/tunnels/*/devices', (route) => route.fulfill(items(devices())));
  await page.route(/\/api\/tunnels\/\d+$/, (route) => {
    const id = Number(/(\d+)$/.exec(route.request().url())[1]);
    const found = told.tunnels.find((one) => one.id === id);
    if (route.request().method() !== 'PATCH') return route.fulfill(problem({ status: 404, code: 'unknown-tunnel', detail: 'no such tunnel', hint: null }));
    const { enabled } = route.request().postDataJSON();
    const state = enabled ? 'connecting' : 'off';
    told.tunnels = told.tunnels.map((one) => (one === found ? { ...one, enabled, state, rtt_ms: null } : one));
    return route.fulfill({ json: told.tunnels.find((one) => one.id === id) });
  });
  return told;
}
