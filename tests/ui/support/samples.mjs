// Webhooks as the providers send them, with names from one small invented world.
import { createHash } from 'node:crypto';

/** Returns a hexadecimal name that is always the same for the same words. */
export const hex = (words, length = 24) => createHash('sha256').update(words).digest('hex').slice(0, length);

const uuid = (words) => hex(words, 32).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-4$3-a$4-$5');
const unix = (at) => Math.floor(at / 1000);
const pretty = (value) => `${JSON.stringify(value, null, 2)}\n`;

function stripeEvent(type, object, at, { id = hex(`${type}${JSON.stringify(object)}`), pending = 2 } = {}) {
  return pretty({
    id: `evt_1${id}`, object: 'event', api_version: '2026-09-30', created: unix(at) - 1, data: { object },
    livemode: false, pending_webhooks: pending, request: { id: `req_${hex(id, 14)}`, idempotency_key: null }, type,
  });
}

function line(at, description, amount) {
  return {
    id: `il_1${hex(description)}`, object: 'line_item', amount, currency: 'eur', description, discountable: true,
    period: { end: unix(at) + 2_592_000, start: unix(at) }, quantity: 1, proration: false,
  };
}

/** Stripe's events, by name; each `(at, options)` → the body as text. */
export const stripe = {
  invoicePaid: (at, options) => stripeEvent('invoice.paid', {
    id: `in_1${hex('acme')}`, object: 'invoice', account_country: 'DE', account_name: 'Hookmitt Demo', amount_due: 124_000,
    amount_paid: 124_000, amount_remaining: 0, attempt_count: 1, attempted: true, billing_reason: 'subscription_cycle',
    collection_method: 'charge_automatically', created: unix(at) - 90, currency: 'eur', customer: 'cus_QnAcme0001',
    customer_email: 'billing@acme.example', customer_name: 'Acme GmbH', hosted_invoice_url: 'https://invoice.stripe.com/i/acct_demo/test',
    lines: { object: 'list', data: [line(at, 'Team plan, 20 seats', 99_000), line(at, 'Support, gold', 25_000)], has_more: false, total_count: 2 },
    metadata: { order: 'A-2041', region: 'eu' }, number: 'ACME-0042', paid: true, period_end: unix(at), period_start: unix(at) - 2_592_000,
    status: 'paid', subtotal: 104_202, tax: 19_798, total: 124_000,
  }, at, options),
  invoiceFailed: (at) => stripeEvent('invoice.payment_failed', {
    id: `in_1${hex('north')}`, object: 'invoice', amount_due: 8_900, amount_paid: 0, currency: 'eur', customer: 'cus_QnNorth01',
    customer_email: 'finance@northwind.example', customer_name: 'Northwind Traders', status: 'open', attempt_count: 2,
  }, at),
  charge: (at, options) => stripeEvent('charge.succeeded', {
    id: `ch_3${hex('acme charge')}`, object: 'charge', amount: 124_000, amount_captured: 124_000, currency: 'eur', customer: 'cus_QnAcme0001',
    description: 'Acme GmbH', paid: true, payment_method_details: { card: { brand: 'visa', last4: '4242', exp_month: 4, exp_year: 2031 }, type: 'card' }, status: 'succeeded',
  }, at, options),
  intent: (at) => stripeEvent('payment_intent.succeeded', {
    id: `pi_3${hex('acme intent')}`, object: 'payment_intent', amount: 124_000, currency: 'eur', customer: 'cus_QnAcme0001', status: 'succeeded',
  }, at),
  subscription: (at) => stripeEvent('customer.subscription.updated', {
    id: `sub_1${hex('north sub')}`, object: 'subscription', name: 'Northwind Traders', status: 'active', quantity: 12, customer: 'cus_QnNorth01',
  }, at),
  refund: (at) => stripeEvent('charge.refunded', {
    id: `ch_3${hex('refund')}`, object: 'charge', amount: 4_000, amount_refunded: 4_000, currency: 'eur', description: 'Refund of order A-2017', refunded: true,
  }, at),
};

const sender = { login: 'zoe-angstrom', id: 5834102, type: 'User', site_admin: false, html_url: 'https://github.com/zoe-angstrom' };
const repository = {
  id: 812345678, node_id: 'R_kgDOMGuqTg', name: 'greenhouse', full_name: 'octo/greenhouse', private: false,
  owner: { login: 'octo', id: 79929171, type: 'Organization' }, html_url: 'https://github.com/octo/greenhouse',
  description: 'Waters the tomatoes when nobody is at home', fork: false, default_branch: 'main', language: 'Rust', open_issues_count: 3,
};
const github = (event, words, body) => ({
  body: JSON.stringify({ ...body, repository, sender }),
  headers: [['X-GitHub-Event', event], ['X-GitHub-Delivery', uuid(words)], ['X-GitHub-Hook-ID', '292430182'],
    ['X-GitHub-Hook-Installation-Target-ID', '812345678'], ['X-GitHub-Hook-Installation-Target-Type', 'repository']],
});

/** GitHub's events: body and header lines. */
export const githubEvents = {
  pullRequest: () => github('pull_request', 'pr 128', {
    action: 'opened', number: 128,
    pull_request: { id: 1987654321, number: 128, state: 'open', title: 'Fix retries when the roof is open', user: sender, body: 'Fixes #127.', draft: false,
      head: { ref: 'rain', sha: hex('rain', 40) }, base: { ref: 'main', sha: hex('main', 40) }, commits: 2, additions: 31, deletions: 4, changed_files: 3 },
  }),
  push: () => github('push', 'push 1', {
    ref: 'refs/heads/main', before: hex('before', 40), after: hex('after', 40), created: false, deleted: false, forced: false,
    commits: [{ id: hex('after', 40), message: 'Water the tomatoes twice on hot days', author: { name: 'Zoë Ångström', email: 'zoe@example.com' }, modified: ['src/rule.rs'] }],
    head_commit: { id: hex('after', 40), message: 'Water the tomatoes twice on hot days', author: { name: 'Zoë Ångström', email: 'zoe@example.com' } },
    pusher: { name: 'zoe-angstrom', email: 'zoe@example.com' },
  }),
  checkSuite: () => github('check_suite', 'suite 1', {
    action: 'completed', check_suite: { id: 118578147, head_branch: 'main', head_sha: hex('after', 40), status: 'completed', conclusion: 'success' },
  }),
  issue: () => github('issues', 'issue 127', {
    action: 'opened', issue: { id: 2345678901, number: 127, title: 'Crash on empty beds', user: sender, labels: [{ name: 'bug', color: 'd73a4a' }], state: 'open', body: 'Yesterday, 14:20.' },
  }),
  workflow: () => github('workflow_run', 'run 912', {
    action: 'completed', workflow_run: { id: 912, name: 'CI', head_branch: 'main', status: 'completed', conclusion: 'success', run_number: 912 },
  }),
};

const shopify = (topic, words, body) => ({
  body: JSON.stringify(body),
  headers: [['X-Shopify-Topic', topic], ['X-Shopify-Shop-Domain', 'greenhouse-demo.myshopify.com'],
    ['X-Shopify-Webhook-Id', uuid(`hook ${words}`)], ['X-Shopify-Event-Id', uuid(words)]],
});
const order = (number, price, items) => ({
  id: 820982911946154500 + number, name: `#${number}`, currency: 'USD', email: 'ada@example.com', financial_status: 'paid', order_number: number, total_price: price,
  customer: { id: 6543210987, first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' },
  line_items: items.map((title, at) => ({ id: 13579246801 + at, title, name: title, quantity: 1, price: '28.80', sku: `SEED-${at}`, vendor: 'Greenhouse & Co' })),
  shipping_address: { name: 'Ada Lovelace', address1: 'Storgatan 1', zip: '751 70', city: 'Uppsala', country_code: 'SE' },
});

/** Shopify's events: body and header lines. */
export const shopifyEvents = {
  created: () => shopify('orders/create', 'created 1042', order(1042, '86.40', ['Tomato seeds', 'Watering can', 'Twine'])),
  updated: () => shopify('orders/updated', 'updated 1042', order(1042, '86.40', ['Tomato seeds', 'Watering can', 'Twine'])),
  paid: () => shopify('orders/paid', 'paid 1041', order(1041, '212.00', ['Cold frame', 'Field jacket'])),
  product: () => shopify('products/update', 'jacket', { id: 7654321, title: 'Field jacket, olive', vendor: 'Greenhouse & Co', status: 'active', variants: [{ id: 1, price: '129.00' }] }),
};

const slackEvent = (words, at, event) => JSON.stringify({
  token: 'verification-token-is-deprecated', team_id: 'T0GREENHOUSE', api_app_id: 'A0GREENHOUSE', type: 'event_callback',
  event_id: `Ev${hex(words, 10).toUpperCase()}`, event_time: unix(at), event: { ts: `${unix(at)}.000200`, ...event },
  authorizations: [{ team_id: 'T0GREENHOUSE', user_id: 'U0BOT', is_bot: true }],
});

/** Slack's events; each `(at)` → the body as text. */
export const slackEvents = {
  mention: (at) => slackEvent('mention', at, { type: 'app_mention', user: 'U0MARA', channel: '#deploys', text: '<@U0BOT> is the roof open?' }),
  message: (at) => slackEvent('message', at, { type: 'message', user: 'U0ZOE', channel: '#garden', text: 'The tomatoes look thirsty' }),
  handshake: () => JSON.stringify({ token: 'verification-token-is-deprecated', challenge: 'greenhouse-3eZbrw1aB10FEMAGAZd4Fyf', type: 'url_verification' }),
};

const clerkUser = (type, words, at) => JSON.stringify({
  data: { id: `user_${hex(words)}`, object: 'user', created_at: unix(at), first_name: 'Ada', last_name: 'Lovelace',
    email_addresses: [{ id: `idn_${hex(words)}`, email_address: 'ada@example.com', verification: { status: 'verified', strategy: 'email_code' } }] },
  instance_id: 'ins_greenhouse', object: 'event', timestamp: at, type,
});

/** Clerk's events; each `(at)` → the body as text. Their id is in a signed header line, which the SDK makes. */
export const clerkEvents = {
  created: (at) => clerkUser('user.created', 'ada', at),
  updated: (at, words = 'ada') => clerkUser('user.updated', words, at),
};

/** Resend's event. */
export const resendDelivered = (at) => JSON.stringify({
  created_at: new Date(at).toISOString(), type: 'email.delivered',
  data: { email_id: uuid('mail'), from: 'Greenhouse <hello@example.com>', to: ['ada@example.com'], subject: 'Your tomatoes are ripe' },
});

/** A custom form that nobody signs. */
export const intakeLead = () => ({
  method: 'POST', path: '/lead', headers: [['User-Agent', 'greenhouse-forms/3.2'], ['Content-Type', 'application/json']],
  body: Buffer.from(JSON.stringify({ name: 'Grace Hopper', company: 'Northwind Traders', message: 'Do you ship to Oslo?', consent: true, size: 'M' })),
});
