// Requests from providers: signed by their own SDKs (tests/sdk), with the header lines that they add.
import { sign } from '../../sdk/sdks.mjs';

import { send } from './http.mjs';

/** A secret in the form that each provider issues. */
export const SECRETS = {
  stripe: 'whsec_dGhpcyBpcyBhIHN0cmlwZSBrZXk',
  github: 'c2VjcmV0IG9mIHRoZSBob29r',
  shopify: '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',
  slack: '8f742231b10e8888abcd99e0e2285a55',
  svix: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3',
  clerk: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3',
  resend: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3',
};

/** Other secrets of the same form, which the inbox does not have. */
export const OTHER_SECRETS = { ...SECRETS, stripe: 'whsec_YW5vdGhlciBzdHJpcGUga2V5', clerk: 'whsec_OTg3NjU0MzIxMGFiY2RlZjk4NzY1NDMy' };

const AGENTS = {
  stripe: 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
  github: 'GitHub-Hookshot/044aadd',
  shopify: 'Shopify-Captain-Hook',
  slack: 'Slackbot 1.0 (+https://api.slack.com/robots)',
};

const realNow = Date.now;

/** Signs as of a moment: sets the clock, because the SDKs read it themselves. */
async function signAt(at, provider, order) {
  if (at === undefined) return sign(provider, order);
  Date.now = () => at;
  try {
    return await sign(provider, order);
  } finally {
    Date.now = realNow;
  }
}

/**
 * Makes a request as the provider sends it: `{ method, path, headers, body }`.
 * `headers` replace those of the SDK's sample (X-GitHub-Event and the like); `at` is in milliseconds.
 */
export async function signed(provider, { body, secret = SECRETS[provider], headers = [], at, path = '' } = {}) {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const made = await signAt(at, provider, { secret, body: bytes });
  const taken = new Set(headers.map(([name]) => name.toLowerCase()));
  const lines = [
    ['User-Agent', AGENTS[provider] ?? 'Svix-Webhooks/1.62.0 (sender-9YMgn; +https://www.svix.com/http-sender/)'],
    ['Accept', '*/*'],
    ['Content-Type', 'application/json'],
    ...made.headers.filter(([name]) => !taken.has(name.toLowerCase())),
    ...headers,
  ];
  return { method: 'POST', path, headers: lines, body: bytes };
}

/** Posts a request to a source at the capture port; the result has the event's `id`. */
export async function post(capture, source, { method = 'POST', path = '', headers = [], body = '', agent } = {}) {
  const answer = await send(method, `${capture}/${source}${path}`, { headers, body, agent });
  return { ...answer, id: answer.headers['x-hookmitt-event-id'] };
}
