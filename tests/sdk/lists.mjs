// Lists with a provider's own SDK what its API at another address has sent, and prints the ids.
// Arguments: the SDK, the API's URL, the key, and what else there is to know, as JSON.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const [sdk, base, key, more] = process.argv.slice(2);
const known = JSON.parse(more);
const { hostname, port } = new URL(base);
const hourAgo = new Date(Date.now() - 3_600_000);
const of = (name) => `${name}@${require(`./node_modules/${name}/package.json`).version}`;

/** Calls `page` with the cursor that it returned before, until it returns none. */
async function pages(page) {
  const ids = [];
  let cursor;
  do {
    const found = await page(cursor);
    ids.push(...found.ids);
    cursor = found.cursor;
  } while (cursor);
  return ids;
}

const SDKS = {
  async stripe() {
    const Stripe = require('stripe');
    const stripe = new (Stripe.default ?? Stripe)(key, { host: hostname, port, protocol: 'http', maxNetworkRetries: 0 });
    const ids = [];
    const created = { gte: Math.floor(hourAgo / 1000) };
    for await (const event of stripe.events.list({ limit: 100, created })) ids.push(event.id);
    return [of('stripe'), ids];
  },
  async svix() {
    const { Svix } = require('svix');
    const svix = new Svix(key, { serverUrl: base });
    const ids = await pages(async (iterator) => {
      const page = await svix.messageAttempt.listAttemptedMessages(known.app, known.endpoint, { iterator, after: hourAgo });
      if (!page.data.every((message) => message.timestamp instanceof Date)) throw new Error('no date');
      return { ids: page.data.map((message) => message.id), cursor: page.done ? undefined : page.iterator };
    });
    return [of('svix'), ids];
  },
  async resend() {
    const { Resend } = require('resend');
    const resend = new Resend(key, { baseUrl: base });
    const ids = await pages(async (after) => {
      const { data, error } = await resend.webhooks.events.list({ webhookId: known.webhook, limit: 100, ...(after && { after }) });
      if (error) throw new Error(error.message);
      const found = data.data.map((event) => event.id);
      return { ids: found, cursor: data.has_more ? found.at(-1) : undefined };
    });
    const { data } = await resend.webhooks.events.get({ webhookId: known.webhook, eventId: ids[0] });
    if (!data.payload) throw new Error('no payload');
    return [of('resend'), ids];
  },
  async workos() {
    const { WorkOS } = require('@workos-inc/node');
    const workos = new WorkOS(key, { apiHostname: hostname, port: Number(port), https: false });
    const list = await workos.events.listEvents({ events: ['user.created'] });
    const ids = list.data.map((event) => event.id);
    let after = list.listMetadata.after;
    while (after) {
      const next = await workos.events.listEvents({ events: ['user.created'], after });
      ids.push(...next.data.map((event) => event.id));
      after = next.listMetadata.after;
    }
    return [of('@workos-inc/node'), ids];
  },
  async paddle() {
    const { Paddle } = require('@paddle/paddle-node-sdk');
    const paddle = new Paddle(key, { environment: base });
    const list = paddle.notifications.list({ notificationSettingId: [known.destination] });
    const ids = [];
    for await (const notification of list) ids.push(notification.id);
    return [of('@paddle/paddle-node-sdk'), ids];
  },
  async mux() {
    const { Mux } = require('@mux/mux-node');
    const [tokenId, tokenSecret] = key.split(':');
    const mux = new Mux({ tokenId, tokenSecret, baseURL: base, maxRetries: 0 });
    const ids = [];
    for await (const asset of mux.video.assets.list({ limit: 2 })) ids.push(asset.id);
    return [of('@mux/mux-node'), ids];
  },
  async slack() {
    const { WebClient } = require('@slack/web-api');
    const slack = new WebClient(key, { slackApiUrl: `${base}/api/` });
    await slack.auth.test();
    const ids = [];
    for await (const page of slack.paginate('conversations.history', { channel: known.channel, limit: 200 })) {
      ids.push(...page.messages.map((message) => message.ts));
    }
    return [of('@slack/web-api'), ids];
  },
};

const [version, ids] = await SDKS[sdk]();
process.stdout.write(JSON.stringify({ sdk: version, ids }));
