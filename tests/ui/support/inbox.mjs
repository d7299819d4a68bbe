// A day in an inbox, as in the reference pictures: valid, invalid, unsigned, without a secret, duplicates with and
// without a conflict, delivered, retried, waiting, dead letters.
import { clerkEvents, githubEvents, intakeLead, resendDelivered, shopifyEvents, slackEvents, stripe } from './samples.mjs';
import { OTHER_SECRETS, SECRETS, post, signed } from './senders.mjs';
import { LocalServer } from './server.mjs';
import { eventually } from './wait.mjs';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Functions that make an event's request as of a moment. */
const makes = {
  stripe: (body) => (at) => signed('stripe', { at, body, headers: [['Connection', 'keep-alive'], ['Cache-Control', 'no-cache'], ['X-Forwarded-Proto', 'https']] }),
  github: ({ body, headers }) => (at) => signed('github', { at, body, headers }),
  shopify: ({ body, headers }) => (at) => signed('shopify', { at, body, headers: [...headers, ['X-Shopify-Triggered-At', new Date(at).toISOString()]] }),
  other: (provider, body, secret) => (at) => signed(provider, { at, body, secret }),
};

/** The request after a proxy that parsed the body and wrote it again. */
const reindented = (request) => ({ ...request, body: Buffer.from(JSON.stringify(JSON.parse(request.body), null, 2)) });

/** Returns the earlier events: source, age, request. Oldest first. */
function history(now) {
  const at = (age) => now - age;
  return [
    ['stripe-test', 26 * HOUR, makes.stripe(stripe.refund(at(26 * HOUR)))],
    ['github', 7 * HOUR, makes.github(githubEvents.workflow())],
    ['shopify', 6 * HOUR, makes.shopify(shopifyEvents.product())],
    ['slack', 5 * HOUR, makes.other('slack', slackEvents.message(at(5 * HOUR)))],
    ['github', 4 * HOUR, makes.github(githubEvents.issue())],
    ['stripe-test', 3 * HOUR, makes.stripe(stripe.invoiceFailed(at(3 * HOUR)))],
    ['stripe-test', 2 * HOUR, makes.stripe(stripe.subscription(at(2 * HOUR)))],
    ['shopify', 15 * MINUTE, makes.shopify(shopifyEvents.paid())],
    ['resend', 12 * MINUTE, makes.other('resend', resendDelivered(at(12 * MINUTE)))],
    ['clerk', 7 * MINUTE, makes.other('clerk', clerkEvents.updated(at(7 * MINUTE), 'grace'))],
    ['clerk', 6 * MINUTE, makes.other('clerk', clerkEvents.updated(at(6 * MINUTE)))],
    ['github', 4 * MINUTE, makes.github(githubEvents.checkSuite())],
    ['github', 3 * MINUTE, makes.github(githubEvents.push())],
  ];
}

/** Makes a fixture, which keeps the time at which it was received. */
async function fixture(source, at, make) {
  const { method, path, headers, body } = await make(at);
  const url = `http://127.0.0.1:4400/${source}${path}`;
  return { format: 1, source, received_at: new Date(at).toISOString(), url, method, path, query: null, http_version: 'HTTP/1.1',
    headers: [['Host', '127.0.0.1:4400'], ...headers, ['Content-Length', String(body.length)]], body: body.toString() };
}

/** Returns the developer's server's answer to each event. */
function manners() {
  let invoices = 0;
  return (seen) => {
    const text = seen.body.toString();
    if (text.includes('invoice.paid')) {
      invoices += 1;
      if (invoices === 1) return { status: 503, body: 'starting', after: 12 };
      if (invoices === 2) return { status: 500, body: '{"error":"connect ECONNREFUSED 127.0.0.1:5432"}', after: 131 };
      return { status: 200, body: '{"received":true}', after: 61 };
    }
    if (text.includes('"#1041"')) return { status: 500, body: '{"error":"stock is negative"}', after: 20 };
    if (text.includes('Grace') && text.includes('consent')) return { status: 202, after: 7 };
    if (seen.header('x-hookmitt-verdict') === 'invalid') return { status: 400, body: '{"error":"No signatures found matching the expected signature"}', after: 5 };
    if (text.includes('user.updated')) return { status: 422, body: '{"error":"unknown user"}', after: 16 };
    return { status: text.includes('check_suite') ? 204 : 200, body: '', after: 4 + (seen.body.length % 40) };
  };
}

async function settings(api, local, second) {
  for (const [source, provider] of [['stripe-test', 'stripe'], ['github', 'github'], ['shopify', 'shopify'], ['slack', 'slack'], ['clerk', 'clerk'], ['resend', 'resend']]) {
    await api.source(source, { provider });
    if (provider !== 'resend') await api.secret(source, SECRETS[provider], source === 'stripe-test' ? 'Test mode' : 'default');
  }
  await api.source('intake');
  const quick = { retry_base_ms: 400, retry_cap_ms: 800 };
  for (const source of ['stripe-test', 'github', 'slack', 'clerk', 'intake', 'resend']) {
    await api.target(source, `${local.url}/webhooks/${source.replace('-test', '')}`, quick);
  }
  await api.target('stripe-test', `${second.url}/events`, quick);
  await api.target('shopify', `${second.url}/shop`, { ...quick, attempts: 3 });
}

/** Waits until no delivery changes any more, except for sources whose target is down. */
const settled = (api, down = []) => eventually('every delivery is settled', async () => {
  const [pending, processing] = await Promise.all([api.events('status=pending'), api.events('status=processing')]);
  return [...pending, ...processing].every((event) => down.includes(event.source));
});

/** Posts the newest events to the capture port; the second server goes down before most of them. */
async function arrivals(api, capture, second) {
  const now = Date.now();
  const send = async (source, make) => post(capture, source, await make(Date.now()));
  await send('stripe-test', makes.stripe(stripe.charge(now)));
  await settled(api);
  await second.stop();
  const first = await send('stripe-test', makes.stripe(stripe.invoicePaid(now)));
  await eventually('the first one is delivered', async () => (await api.event(first.id)).deliveries.some(({ status }) => status === 'completed'));
  await send('stripe-test', makes.stripe(stripe.invoicePaid(now)));
  await send('stripe-test', makes.stripe(stripe.invoicePaid(now, { pending: 1 })));
  await send('shopify', makes.shopify(shopifyEvents.created()));
  await send('shopify', makes.shopify(shopifyEvents.updated()));
  await send('stripe-test', makes.stripe(stripe.intent(now)));
  await post(capture, 'intake', intakeLead());
  const bad = await send('clerk', makes.other('clerk', clerkEvents.created(now), OTHER_SECRETS.clerk));
  const changed = await send('clerk', async (at) => reindented(await makes.other('clerk', clerkEvents.created(at + 1))(at)));
  await send('slack', makes.other('slack', slackEvents.handshake()));
  await send('slack', makes.other('slack', slackEvents.mention(now)));
  const newest = await send('github', makes.github(githubEvents.pullRequest()));
  await settled(api, ['stripe-test', 'shopify']);
  return { first: first.id, invalid: bad.id, changed: changed.id, newest: newest.id };
}

/**
 * Fills an empty inbox; returns the ids of important events, and the two local servers: the second one is down.
 * `ports` are preferences, so that pictures read well.
 */
export async function seed(api, capture, ports = [3000, 8787]) {
  const now = Date.now();
  const [local, second] = [await LocalServer.start(ports[0]), await LocalServer.start(ports[1])];
  local.answer = manners();
  second.answer = manners();
  await settings(api, local, second);
  const fixtures = [];
  for (const [source, age, make] of history(now)) fixtures.push(await fixture(source, now - age, make));
  await api.import(fixtures, { forward: true });
  await settled(api);
  const ids = await arrivals(api, capture, second);
  const dead = (await api.events('status=dead_letter'))[0]?.id;
  return { ...ids, dead, servers: [local, second] };
}
