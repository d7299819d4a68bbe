// Standard Webhooks and providers that use its format.
import { WebhookHandler } from '@liveblocks/node';
import { verifyWebhook as clerkVerify } from '@clerk/backend/webhooks';
import OpenAI from 'openai';
import { validateWebhook as replicateValidate } from 'replicate';
import { Resend } from 'resend';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';

import { freshId, lower, refuse, seconds } from './shape.mjs';

/** Makes the three headers of Standard Webhooks with this prefix. */
const family = (prefix, make) => ({ secret, body }) => {
  const [id, at] = [freshId(), new Date(seconds() * 1000)];
  return [[`${prefix}-id`, id], [`${prefix}-timestamp`, String(seconds())],
    [`${prefix}-signature`, make(secret).sign(id, at, body.toString())]];
};
const standardSign = (prefix) => family(prefix, (secret) => new StandardWebhook(secret));
const rawKey = (secret) => new StandardWebhook(Buffer.from(secret).toString('base64'));

export const standard = {
  standardwebhooks: {
    package: 'standardwebhooks',
    sign: standardSign('webhook'),
    verify: ({ secret, body, headers }) =>
      new StandardWebhook(secret).verify(body.toString(), lower(headers), { jsonParse: false }),
  },
  polar: {
    package: 'standardwebhooks', // Polar's SDK calls it like this; the SDK itself is 44 MB, so its Python one is asked too
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
};
