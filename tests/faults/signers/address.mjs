// Providers that sign the URL they called, or the request line.
import { hash, mac, recipe, text, URL_CALLED } from './recipe.mjs';

const address = (given) => recipe({ coversUrl: true, url: URL_CALLED, enc: 'base64', ...given });
const FORM = 'application/x-www-form-urlencoded';

// https://www.twilio.com/docs/usage/webhooks/webhooks-security: the fields sorted by name, without separators.
const sortedForm = ({ url, body }) => {
  const pairs = [...new URLSearchParams(body.toString())].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return [url, ...pairs.map(([name, value]) => name + value)];
};
const TOKEN = {
  kind: 'hex-text',
  secret: '0a1b2c3d4e5f60718293a4b5c6d7e8f9',
  other: 'ffffffff4e5f60718293a4b5c6d7e8f9',
};
const message = {
  whole: ({ id, name }) => ({
    CallSid: id,
    From: '+14158675309',
    To: '+18005551212',
    Body: `Hi ${name ?? 'Zoë 🚀'}, a/b & c`,
  }),
};

// https://www.contentful.com/developers/docs/webhooks/request-verification/: method, path (its query encoded once more,
// as one text), chosen headers, body.
const canonical = ({ method, url, head, body }) => {
  const { pathname, search } = new URL(url);
  const signed = head.find(([name]) => name === 'x-contentful-signed-headers')[1].split(',');
  const lower = new Map(head.map(([name, value]) => [name.toLowerCase(), value]));
  const path = encodeURI(search ? `${pathname}?${encodeURIComponent(search.slice(1))}` : pathname);
  return [[method, path, signed.map((name) => `${name}:${lower.get(name)}`).join(';'), ''].join('\n'), body];
};

const contentful = () => [
  ['X-Contentful-Topic', 'ContentManagement.Entry.publish'],
  ['x-contentful-signed-headers', 'x-contentful-signed-headers,x-contentful-timestamp,x-contentful-topic'],
];

const hubspotBody = {
  whole: ({ id }, common) => [{ eventId: 1, subscriptionType: 'contact.creation', objectId: id, ...common.data }],
};
const plainHash =
  ({ parts }) =>
  (about) =>
    hash('sha256', parts(about));

export default [
  address({
    row: 'square',
    header: 'x-square-hmacsha256-signature',
    secret: 'Ibxx_5AKakO-3qeNVR61Dw',
    other: '00xx_5AKakO-3qeNVR61Dw',
    content: ({ url, body }) => [url, body],
    headers: () => [['square-environment', 'Sandbox']],
  }),
  address({
    row: 'trello',
    alg: 'sha1',
    header: 'X-Trello-Webhook',
    secret: 'trello_oauth_secret',
    other: 'trello_other',
    content: ({ url, body }) => [body, url],
  }),
  address({
    row: 'hubspot',
    header: 'X-HubSpot-Signature-v3',
    secret: 'yyyyyyyy-1111-4222-8333-yyyyyyyyyyyy',
    other: '00000000-1111-4222-8333-yyyyyyyyyyyy',
    ...hubspotBody,
    time: { unit: 'ms', header: 'X-HubSpot-Request-Timestamp', tolerance: 300 },
    coversMethod: true,
    content: ({ method, url, body, stamp }) => [method, url, body, stamp],
  }),
  address({
    row: 'hubspot v2',
    provider: 'hubspot',
    params: { scheme: 'hubspot-v2' },
    enc: 'hex',
    header: 'X-HubSpot-Signature',
    secret: 'yyyyyyyy-1111-4222-8333-yyyyyyyyyyyy',
    other: '00000000-1111-4222-8333-yyyyyyyyyyyy',
    ...hubspotBody,
    headers: () => [['X-HubSpot-Signature-Version', 'v2']],
    coversMethod: true,
    unkeyed: true,
    digest: plainHash({ parts: ({ secret, method, url, body }) => [secret, method, url, body] }),
  }),
  recipe({
    row: 'hubspot v1',
    provider: 'hubspot',
    params: { scheme: 'hubspot-v1' },
    header: 'X-HubSpot-Signature',
    secret: 'yyyyyyyy-1111-4222-8333-yyyyyyyyyyyy',
    other: '00000000-1111-4222-8333-yyyyyyyyyyyy',
    ...hubspotBody,
    headers: () => [['X-HubSpot-Signature-Version', 'v1']],
    unkeyed: true,
    digest: plainHash({ parts: ({ secret, body }) => [secret, body] }),
  }),
  address({
    row: 'twilio',
    alg: 'sha1',
    header: 'X-Twilio-Signature',
    ...TOKEN,
    ...message,
    style: 'form',
    type: FORM,
    covers: 'values',
    content: sortedForm,
  }),
  address({
    row: 'twilio json',
    provider: 'twilio',
    alg: 'sha1',
    header: 'X-Twilio-Signature',
    ...TOKEN,
    ownUrl: true,
    prepare(about) {
      about.url = `${about.url}&bodySHA256=${hash('sha256', [about.body]).toString('hex')}`;
    },
    content: ({ url }) => [url],
  }),
  address({
    row: 'twilio sharedkey',
    provider: 'twilio',
    header: 'X-Twilio-Signature',
    secret: 'sharedkey_secret_9f2c',
    other: 'sharedkey_secret_0000',
    ...message,
    style: 'form',
    type: FORM,
    covers: 'values',
    headers: () => [['X-Twilio-Webhooks-Signature-Settings', 'key=webhooks_sharedkey_01hz,algorithm=HMAC_SHA256']],
    content: sortedForm,
  }),
  recipe({
    row: 'contentful',
    header: 'x-contentful-signature',
    secret: 'abcdefghijABCDEFGHIJ0123456789-_abcdefghijABCDEFGHIJ0123456789-_',
    other: '0bcdefghijABCDEFGHIJ0123456789-_abcdefghijABCDEFGHIJ0123456789-_',
    url: URL_CALLED,
    style: 'pretty2',
    coversPath: true,
    coversMethod: true,
    dropTime: 'x-contentful-timestamp',
    time: { unit: 'ms', tolerance: 30 },
    headers: contentful,
    digest(about) {
      about.head.push(['x-contentful-timestamp', about.stamp]);
      return mac(about.alg, text(about.secret), canonical(about));
    },
  }),
];
