// The providers' own SDKs (those of tests/sdk) sign: correctly, and with a wrong setting.
import { createRequire } from 'node:module';

import { fault, withHeader } from './kit.mjs';
import { NOW } from '../signers/recipe.mjs';

const sdks = createRequire(new URL('../../sdk/package.json', import.meta.url));
const stripe = sdks('stripe')('sk_test_1').webhooks;
const { Webhook: Standard } = sdks('standardwebhooks');
const { Webhook: Svix } = sdks('svix');
const twilio = sdks('twilio/lib/webhooks/webhooks');
const { signRequest: contentful } = sdks('@contentful/node-apps-toolkit');

const date = (now = NOW) => new Date(now * 1000);
const fields = (body) => Object.fromEntries(new URLSearchParams(body.toString()));
const set = (request, header, value) => withHeader(request, header, (name) => [name, value]);

// Signs the row's own request with one SDK.
const signing = (rows, name, group, expect, make) =>
  fault(group, name, async (row, lab) => {
    if (!rows.includes(row.row)) return null;
    const signed = await lab.signed(row);
    const made = await make(signed, row);
    return { request: made.headers ? made : set(signed, row.header, made), expect };
  });
const RIGHT = 'right';
const STANDARD = ['standardwebhooks', 'openai', 'anthropic', 'replicate', 'liveblocks', 'gitlab'];
const SVIX = ['svix', 'clerk', 'resend'];

const byStripe =
  (options) =>
  ({ body }, { secret }) =>
    stripe.generateTestHeaderString({
      payload: body.toString(),
      secret,
      timestamp: NOW,
      ...(typeof options === 'function' ? options(body) : options),
    });
const byTwilio =
  (change) =>
  ({ url, body }, { secret }) =>
    twilio.getExpectedTwilioSignature(secret, change(url), fields(body));
const byContentful =
  (change) =>
  (signed, { secret }) => {
    const { pathname, search } = new URL(signed.url);
    const headers = { 'X-Contentful-Topic': 'ContentManagement.Entry.publish' };
    const made = contentful(
      secret,
      change({ method: signed.method, path: pathname + search, headers, body: signed.body.toString() }),
      NOW * 1000,
    );
    return Object.entries(made).reduce((request, [header, value]) => set(request, header, `${value}`), signed);
  };
const parsed = (body) => JSON.stringify(JSON.parse(body.toString()));

export default [
  signing(['stripe'], 'the SDK signs', RIGHT, ['valid'], byStripe({})),
  signing(STANDARD, 'the SDK signs', RIGHT, ['valid'], ({ body }, { secret }) =>
    new Standard(secret).sign('evt_0001', date(), body.toString()),
  ),
  signing(SVIX, 'the SDK signs', RIGHT, ['valid'], ({ body }, { secret }) =>
    new Svix(secret).sign('evt_0001', date(), body.toString()),
  ),
  signing(
    ['twilio'],
    'the SDK signs',
    RIGHT,
    ['valid'],
    byTwilio((url) => url),
  ),
  signing(
    ['contentful'],
    'the SDK signs',
    RIGHT,
    ['valid'],
    byContentful((request) => request),
  ),

  signing(
    ['stripe'],
    'SDK: time in milliseconds',
    'clock',
    ['timestamp_unit', 'timestamp_future', 'valid'],
    byStripe({ timestamp: NOW * 1000 }),
  ),
  signing(['stripe'], 'SDK: scheme v0', 'signature', ['signature_format', 'unsigned'], byStripe({ scheme: 'v0' })),
  signing(
    ['stripe'],
    'SDK: the parsed payload',
    'json',
    ['body_reserialized'],
    byStripe((body) => ({ payload: parsed(body) })),
  ),
  signing(['stripe'], 'SDK: another secret', 'secret', ['no_match'], byStripe({ secret: 'whsec_elsewhere' })),
  signing(STANDARD.slice(1), 'SDK: format raw', 'secret', ['secret_encoding', 'valid'], ({ body }, { secret }) =>
    new Standard(secret, { format: 'raw' }).sign('evt_0001', date(), body.toString()),
  ),
  signing(
    ['standardwebhooks', ...SVIX],
    'SDK: the secret base64-encoded again',
    'secret',
    ['secret_encoding'],
    ({ body }, { secret }) =>
      new Svix(Buffer.from(secret).toString('base64')).sign('evt_0001', date(), body.toString()),
  ),
  signing(STANDARD, 'SDK: another id', 'altered', ['no_match'], ({ body }, { secret }) =>
    new Standard(secret).sign('evt_0009', date(), body.toString()),
  ),
  signing(SVIX, 'SDK: another time', 'altered', ['no_match'], ({ body }, { secret }) =>
    new Svix(secret).sign('evt_0001', date(NOW - 7), body.toString()),
  ),
  signing(
    ['twilio'],
    'SDK: http behind TLS',
    'url',
    ['url_mismatch'],
    byTwilio((url) => url.replace('https:', 'http:')),
  ),
  signing(
    ['twilio'],
    'SDK: without the query',
    'url',
    ['url_mismatch'],
    byTwilio((url) => url.split('?')[0]),
  ),
  signing(
    ['contentful'],
    'SDK: without the query',
    'url',
    ['url_mismatch'],
    byContentful((request) => ({ ...request, path: request.path.split('?')[0] })),
  ),
  signing(
    ['contentful'],
    'SDK: the parsed body',
    'json',
    ['body_reserialized'],
    byContentful((request) => ({ ...request, body: parsed(Buffer.from(request.body)) })),
  ),
];
