// The providers' own SDKs behind one shape: each signs (or says by which recipe it was signed) and verifies.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { WebhookHandler } from '@liveblocks/node';
import { sign as githubSign, verify as githubVerify } from '@octokit/webhooks-methods';
import '@shopify/shopify-api/adapters/node';
import { ApiVersion, LogSeverity, shopifyApi } from '@shopify/shopify-api';
import { verifyWebhook as clerkVerify } from '@clerk/backend/webhooks';
import { Bot, webhookCallback } from 'grammy';
import OpenAI from 'openai';
import { validateWebhook as replicateValidate } from 'replicate';
import { Resend } from 'resend';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';

const require = createRequire(import.meta.url);
// Bolt's index starts its whole framework; the verifier alone is what a receiver calls.
const { verifySlackRequest } = require(fileURLToPath(new URL('node_modules/@slack/bolt/dist/receivers/verify-request.js', import.meta.url)));

const version = (name) =>
  JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;

const seconds = () => Math.floor(Date.now() / 1000);
const freshId = () => `msg_${Math.random().toString(36).slice(2)}`;
const lower = (headers) => Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
const refuse = (why) => { throw new Error(why); };

const stripe = new Stripe('sk_test_hookmitt');
const shopify = (secret) => shopifyApi({
  apiKey: 'hookmitt', apiSecretKey: secret, apiVersion: Object.values(ApiVersion).at(-1), hostName: 'localhost',
  isEmbeddedApp: false, logger: { level: LogSeverity.Error, log: () => {} },
});

/** The three headers of Standard Webhooks under either name. */
const family = (prefix, make) => ({ secret, body }) => {
  const [id, at] = [freshId(), new Date(seconds() * 1000)];
  return [[`${prefix}-id`, id], [`${prefix}-timestamp`, String(seconds())],
    [`${prefix}-signature`, make(secret).sign(id, at, body.toString())]];
};
const standardSign = (prefix) => family(prefix, (secret) => new StandardWebhook(secret));
const rawKey = (secret) => new StandardWebhook(Buffer.from(secret).toString('base64'));

export const sdks = {
  github: {
    package: '@octokit/webhooks-methods',
    sign: async ({ secret, body }) => [
      ['X-GitHub-Event', 'push'], ['X-GitHub-Delivery', crypto.randomUUID()],
      ['X-Hub-Signature-256', await githubSign(secret, body.toString())]],
    verify: async ({ secret, body, headers }) =>
      await githubVerify(secret, body.toString(), lower(headers)['x-hub-signature-256']) || refuse('signature mismatch'),
  },
  stripe: {
    package: 'stripe',
    sign: ({ secret, body }) => [
      ['Stripe-Signature', stripe.webhooks.generateTestHeaderString({ payload: body.toString(), secret, timestamp: seconds() })]],
    verify: ({ secret, body, headers }) =>
      stripe.webhooks.signature.verifyHeader(body.toString(), lower(headers)['stripe-signature'] ?? '', secret, 300),
  },
  slack: {
    package: '@slack/bolt',
    signed_by: 'recipe accepted by verifySlackRequest',
    sign: ({ secret, body }) => {
      const at = String(seconds());
      const tag = createHmac('sha256', secret).update(`v0:${at}:`).update(body).digest('hex');
      return [['X-Slack-Request-Timestamp', at], ['X-Slack-Signature', `v0=${tag}`]];
    },
    verify: ({ secret, body, headers }) => {
      const named = lower(headers);
      verifySlackRequest({ signingSecret: secret, body: body.toString(), headers: {
        'x-slack-signature': named['x-slack-signature'] ?? '',
        'x-slack-request-timestamp': Number(named['x-slack-request-timestamp']) } });
    },
  },
  shopify: {
    package: '@shopify/shopify-api',
    signed_by: 'recipe accepted by webhooks.validate',
    sign: ({ secret, body }) => [
      ['X-Shopify-Topic', 'orders/create'], ['X-Shopify-Shop-Domain', 'demo.myshopify.com'],
      ['X-Shopify-API-Version', '2026-10'], ['X-Shopify-Webhook-Id', crypto.randomUUID()],
      ['X-Shopify-Event-Id', crypto.randomUUID()], ['X-Shopify-Triggered-At', new Date().toISOString()],
      ['X-Shopify-Hmac-Sha256', createHmac('sha256', secret).update(body).digest('base64')]],
    verify: async ({ secret, body, headers, method, url }) => {
      const rawRequest = { method: method ?? 'POST', url: url ?? '/', headers: lower(headers) };
      const answer = await shopify(secret).webhooks.validate({ rawBody: body.toString(), rawRequest, rawResponse: {} });
      if (!answer.valid) refuse(answer.reason);
    },
  },
  standardwebhooks: {
    package: 'standardwebhooks',
    sign: standardSign('webhook'),
    verify: ({ secret, body, headers }) =>
      new StandardWebhook(secret).verify(body.toString(), lower(headers), { jsonParse: false }),
  },
  polar: {
    package: 'standardwebhooks', // Polar's SDK calls it like this; the SDK itself is 44 MB
    sign: family('webhook', rawKey),
    verify: ({ secret, body, headers }) => rawKey(secret).verify(body.toString(), lower(headers), { jsonParse: false }),
  },
  svix: {
    package: 'svix',
    sign: family('svix', (secret) => new SvixWebhook(secret)),
    verify: ({ secret, body, headers }) => new SvixWebhook(secret).verify(body.toString(), lower(headers)),
  },
  clerk: {
    package: '@clerk/backend',
    signed_by: 'standardwebhooks, which the SDK verifies with',
    sign: standardSign('svix'),
    verify: ({ secret, body, headers }) =>
      clerkVerify(new Request('http://localhost/', { method: 'POST', headers, body }), { signingSecret: secret }),
  },
  resend: {
    package: 'resend',
    signed_by: 'standardwebhooks, which the SDK verifies with',
    sign: standardSign('svix'),
    verify: ({ secret, body, headers }) => {
      const named = lower(headers);
      new Resend('re_hookmitt').webhooks.verify({ payload: body.toString(), webhookSecret: secret, headers: {
        id: named['svix-id'], timestamp: named['svix-timestamp'], signature: named['svix-signature'] } });
    },
  },
  openai: {
    package: 'openai',
    signed_by: 'standardwebhooks, whose format the SDK verifies',
    sign: standardSign('webhook'),
    verify: ({ secret, body, headers }) =>
      new OpenAI({ apiKey: 'hookmitt', webhookSecret: secret }).webhooks.verifySignature(body.toString(), lower(headers)),
  },
  replicate: {
    package: 'replicate',
    signed_by: 'standardwebhooks, whose format the SDK verifies',
    sign: standardSign('webhook'),
    verify: async ({ secret, body, headers }) =>
      await replicateValidate({ headers: lower(headers), body: body.toString() }, secret) || refuse('signature mismatch'),
  },
  liveblocks: {
    package: '@liveblocks/node',
    signed_by: 'standardwebhooks, whose format the SDK verifies',
    sign: standardSign('webhook'),
    verify: ({ secret, body, headers }) =>
      new WebhookHandler(secret).verifyRequest({ headers: lower(headers), rawBody: body.toString() }),
  },
  telegram: {
    package: 'grammy',
    signed_by: 'the configured token, which is all that Telegram sends',
    sign: ({ secret }) => [['X-Telegram-Bot-Api-Secret-Token', secret]],
    verify: async ({ secret, headers }) => {
      const bot = new Bot('1:hookmitt', { botInfo: { id: 1, is_bot: true, first_name: 'h', username: 'h_bot' } });
      const update = { update_id: 1 };
      let refused = false;
      const adapter = () => ({
        update: Promise.resolve(update), header: lower(headers)['x-telegram-bot-api-secret-token'],
        end: () => {}, respond: () => {}, unauthorized: () => { refused = true; } });
      await webhookCallback(bot, adapter, { secretToken: secret })();
      if (refused) refuse('secret token is wrong');
    },
  },
};

/** `name → sdk@version` of everything above. */
export const versions = () =>
  Object.fromEntries(Object.entries(sdks).map(([name, sdk]) => [name, `${sdk.package}@${version(sdk.package)}`]));

/** Signs with the SDK; a recipe counts only when the SDK's verifier accepts what it made. */
export async function sign(name, order) {
  const sdk = sdks[name] ?? refuse(`no SDK for ${name}`);
  const headers = await sdk.sign(order);
  if (sdk.signed_by) await sdk.verify({ ...order, headers });
  return { headers, signed_by: sdk.signed_by ?? versions()[name] };
}

/** Verifies with the SDK; throws its error. */
export async function verify(name, order) {
  const sdk = sdks[name] ?? refuse(`no SDK for ${name}`);
  await sdk.verify(order);
}
