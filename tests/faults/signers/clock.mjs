// Providers that sign a timestamp (and some an id) together with the body.
import { recipe, text, whsec } from './recipe.mjs';

const STANDARD = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';
const OTHER = 'whsec_enl4d3Z1dHNycXBvbm1sa2ppaGdmZWRj';

// Standard Webhooks (https://www.standardwebhooks.com), with the adopter's names.
const standard = (given) => {
  const prefix = given.names ?? 'webhook';
  return recipe({
    kind: 'whsec', secret: STANDARD, other: OTHER, key: whsec, enc: 'base64', prefix: 'v1,',
    header: `${prefix}-signature`, idHeader: `${prefix}-id`,
    time: { unit: 's', header: `${prefix}-timestamp`, tolerance: 300, future: true },
    value: (signature) => `v1,${signature}`,
    content: ({ id, stamp, body }) => [`${id}.${stamp}.`, body],
    ...given,
  });
};

// `t=…,v1=…` in one header, over "timestamp.body".
const fields = (given) => recipe({
  fields: true,
  value: (signature, { stamp }) => `t=${stamp},v1=${signature}`,
  content: ({ stamp, body }) => [`${stamp}.`, body],
  ...given,
});

export default [
  standard({ row: 'standardwebhooks' }),
  standard({ row: 'svix', names: 'svix', style: 'pretty2' }),
  standard({ row: 'clerk', names: 'svix' }),
  standard({ row: 'resend', names: 'svix' }),
  standard({ row: 'openai', untagged: true, textKeyFits: true }),
  standard({ row: 'anthropic' }),
  standard({ row: 'replicate', untagged: true, time: { unit: 's', header: 'webhook-timestamp' } }),
  standard({ row: 'liveblocks', untagged: true }),
  standard({ row: 'polar', kind: 'text', key: text, secret: 'polar_whs_2bNq8vQkTtAaZ0', other: 'polar_whs_0000000' }),
  standard({
    row: 'gitlab', style: 'compact',
    headers: ({ id }) => [['X-Gitlab-Event', 'Push Hook'], ['X-Gitlab-Webhook-UUID', 'w1'], ['X-Gitlab-Event-UUID', '13792a34'], ['Idempotency-Key', id]],
  }),
  fields({ row: 'stripe', kind: 'whsec-text', header: 'Stripe-Signature', style: 'pretty2', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', other: 'whsec_0000000GKYqrTwjUPD8ILPZIo2LaLaSw', time: { unit: 's', tolerance: 300 } }),
  fields({ row: 'mux', header: 'Mux-Signature', secret: 'SuperSecret123', other: 'SuperSecret456', time: { unit: 's', tolerance: 300 } }),
  fields({ row: 'calendly', header: 'Calendly-Webhook-Signature', secret: 'cal_key', other: 'cal_other', time: { unit: 's', tolerance: 180 } }),
  fields({ row: 'elevenlabs', header: 'ElevenLabs-Signature', secret: 'wsec_1c4f', other: 'wsec_ffff', time: { unit: 's', tolerance: 1800 }, value: (signature, { stamp }) => `t=${stamp},v0=${signature}` }),
  fields({ row: 'sanity', header: 'sanity-webhook-signature', enc: 'base64url', secret: 'sanity secret', other: 'sanity other', time: { unit: 'ms' }, headers: () => [['sanity-transaction-id', 't1'], ['idempotency-key', 'key-1'], ['sanity-operation', 'create']] }),
  fields({ row: 'workos', header: 'WorkOS-Signature', secret: 'lJlDbTR6mtEoRGxzBx3LzKzh2', other: '00lDbTR6mtEoRGxzBx3LzKzh2', time: { unit: 'ms', tolerance: 180 }, value: (signature, { stamp }) => `t=${stamp}, v1=${signature}` }),
  fields({
    row: 'paddle', header: 'Paddle-Signature', secret: 'pdl_ntfset_01hz_aYUdPqN8kVFLzPzZ', other: 'pdl_ntfset_01hz_00000000', time: { unit: 's', tolerance: 5 },
    value: (signature, { stamp }) => `ts=${stamp};h1=${signature}`, content: ({ stamp, body }) => [`${stamp}:`, body],
  }),
  recipe({
    row: 'slack', kind: 'hex-text', header: 'X-Slack-Signature', prefix: 'v0=', secret: '8f742231b10e8888abcd99e0e2285a55', other: '00742231b10e8888abcd99e0e2285a55', style: 'php',
    time: { unit: 's', header: 'X-Slack-Request-Timestamp', tolerance: 300, future: true },
    value: (signature) => `v0=${signature}`, content: ({ stamp, body }) => [`v0:${stamp}:`, body],
  }),
  recipe({
    row: 'slack command', provider: 'slack', kind: 'hex-text', header: 'X-Slack-Signature', prefix: 'v0=', secret: '8f742231b10e8888abcd99e0e2285a55', other: '00742231b10e8888abcd99e0e2285a55',
    style: 'form', type: 'application/x-www-form-urlencoded',
    time: { unit: 's', header: 'X-Slack-Request-Timestamp', tolerance: 300, future: true },
    value: (signature) => `v0=${signature}`, content: ({ stamp, body }) => [`v0:${stamp}:`, body],
  }),
  recipe({
    row: 'zoom', header: 'x-zm-signature', prefix: 'v0=', secret: 'zoom_secret_token_123', other: 'zoom_secret_token_000',
    time: { unit: 's', header: 'x-zm-request-timestamp' },
    value: (signature) => `v0=${signature}`, content: ({ stamp, body }) => [`v0:${stamp}:`, body],
  }),
  recipe({
    row: 'twitch', header: 'Twitch-Eventsub-Message-Signature', prefix: 'sha256=', secret: 's3cRe7s3cRe7', other: 's3cRe7000000', style: 'go',
    idHeader: 'Twitch-Eventsub-Message-Id', time: { unit: 'nanoseconds', header: 'Twitch-Eventsub-Message-Timestamp', tolerance: 600 },
    headers: () => [['Twitch-Eventsub-Message-Type', 'notification'], ['Twitch-Eventsub-Subscription-Type', 'channel.follow']],
    value: (signature) => `sha256=${signature}`, content: ({ id, stamp, body }) => [id, stamp, body],
  }),
  recipe({
    row: 'zendesk', header: 'X-Zendesk-Webhook-Signature', enc: 'base64', kind: 'base64-text', secret: 'dGhpc19pc19vbmx5X2Zvcl90aGVfYmVuY2g=', other: 'AAAAc19pc19vbmx5X2Zvcl90aGVfYmVuY2g=',
    time: { unit: 'iso', header: 'X-Zendesk-Webhook-Signature-Timestamp' },
    headers: () => [['X-Zendesk-Webhook-Id', '01EWTSFJ'], ['X-Zendesk-Webhook-Invocation-Id', '8350205582']],
    content: ({ stamp, body }) => [stamp, body],
  }),
  recipe({
    row: 'box', header: 'BOX-SIGNATURE-PRIMARY', enc: 'base64', secret: 'SamplePrimaryKey', other: 'OtherPrimaryKey', style: 'php', keysByPlace: true, eitherEscape: true,
    time: { unit: 'offset', header: 'BOX-DELIVERY-TIMESTAMP', tolerance: 600, future: true },
    headers: () => [['BOX-DELIVERY-ID', 'f96bb54b'], ['BOX-SIGNATURE-VERSION', '1'], ['BOX-SIGNATURE-ALGORITHM', 'HmacSHA256']],
    content: ({ stamp, body }) => [body, stamp],
  }),
  recipe({
    row: 'linear', header: 'Linear-Signature', secret: 'lin_wh_6kQpTnH2m', other: 'lin_wh_000000000',
    time: { unit: 'ms', tolerance: 60, future: true, inBody: true },
    event: ({ stamp }) => ({ action: 'create', type: 'Issue', webhookTimestamp: Number(stamp) }),
    headers: () => [['Linear-Delivery', '234d1a4e-b617-4388-90fe-adc3633d6b72'], ['Linear-Event', 'Issue']],
  }),
];
