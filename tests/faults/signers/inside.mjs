// Providers whose signature is in the body, or that send a token.
import { createHash } from 'node:crypto';

import { hex, mac, recipe } from './recipe.mjs';

const FORM = 'application/x-www-form-urlencoded';
const token = 'c1a2b3d4e5f60718293a4b5c6d7e8f901a2b3c4d5e6f708192';
const mailgun = (about) => about.shape(mac(about.alg, about.secret, [about.stamp, token]));

const adyenItem = ({ id }) => ({
  pspReference: id,
  originalReference: '',
  merchantAccountCode: 'TestMerchant',
  merchantReference: 'order/1: a',
  amount: { currency: 'EUR', value: 1130 },
  eventCode: 'AUTHORISATION',
  success: 'true',
  eventDate: '2026-01-02T03:04:05+01:00',
  paymentMethod: 'visa',
});
const adyenText = (item) =>
  [
    item.pspReference,
    item.originalReference,
    item.merchantAccountCode,
    item.merchantReference,
    item.amount.value,
    item.amount.currency,
    item.eventCode,
    item.success,
  ].join(':');
const ADYEN = {
  kind: 'hex',
  key: hex,
  secret: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056',
  other: '00782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056',
};

const braintreeXml = ({ now, id }) =>
  `<notification>\n  <timestamp type="datetime">${new Date(now * 1000).toISOString()}</timestamp>\n  <kind>subscription_went_past_due</kind>\n  <subject><subscription><id>${id}</id></subscription></subject>\n</notification>`;
const PUBLIC = 'integration_public_key';

export default [
  recipe({
    row: 'mailgun',
    secret: 'key-mg-signing',
    other: 'key-mg-other',
    covers: 'nothing',
    signedInside: true,
    style: 'python',
    time: { unit: 's' },
    inside: (body, about) => ({
      signature: { token, timestamp: about.stamp, signature: mailgun(about) },
      'event-data': { ...body, event: 'delivered' },
    }),
  }),
  recipe({
    row: 'mailgun form',
    provider: 'mailgun',
    secret: 'key-mg-signing',
    other: 'key-mg-other',
    covers: 'nothing',
    signedInside: true,
    style: 'form',
    type: FORM,
    time: { unit: 's' },
    whole: ({ id }) => ({ recipient: 'a@example.com', subject: 'Zoë & co', 'Message-Id': id }),
    inside: (body, about) => ({ ...body, timestamp: about.stamp, token, signature: mailgun(about) }),
  }),
  recipe({
    row: 'adyen',
    ...ADYEN,
    enc: 'base64',
    covers: 'values',
    signedInside: true,
    whole: (about) => adyenItem(about),
    inside: (item, about) => ({
      live: 'false',
      notificationItems: [
        {
          NotificationRequestItem: {
            ...item,
            additionalData: { hmacSignature: about.shape(mac(about.alg, hex(about.secret), [adyenText(item)])) },
          },
        },
      ],
    }),
  }),
  recipe({
    row: 'adyen header',
    provider: 'adyen',
    ...ADYEN,
    enc: 'base64',
    header: 'HmacSignature',
    headers: () => [['Protocol', 'HmacSHA256']],
    event: () => ({ environment: 'test' }),
  }),
  recipe({
    row: 'braintree',
    alg: 'sha1',
    key: (secret) => createHash('sha1').update(secret).digest(),
    secret: 'integration_private_key',
    other: 'other_private_key',
    kind: 'sha1',
    params: { public_key_id: PUBLIC },
    covers: 'values',
    signedInside: true,
    style: 'form',
    type: FORM,
    whole: (about) => about,
    inside(_, about) {
      const payload = `${Buffer.from(braintreeXml(about)).toString('base64').replace(/.{60}/g, '$&\n')}\n`;
      const key = createHash('sha1').update(about.secret).digest();
      return { bt_signature: `${PUBLIC}|${about.shape(mac(about.alg, key, [payload]))}`, bt_payload: payload };
    },
  }),
  recipe({
    row: 'telegram',
    tokenOnly: true,
    covers: 'nothing',
    header: 'X-Telegram-Bot-Api-Secret-Token',
    digest: ({ secret }) => Buffer.from(secret),
    enc: 'utf8',
    secret: 'A1_b-2cDeF',
    other: 'Z9_y-8xWvU',
    event: () => ({ update_id: 10000 }),
    style: 'ascii',
  }),
  recipe({
    row: 'gitlab token',
    provider: 'gitlab',
    tokenOnly: true,
    covers: 'nothing',
    header: 'X-Gitlab-Token',
    digest: ({ secret }) => Buffer.from(secret),
    enc: 'utf8',
    secret: 'glhook-Secret',
    other: 'glhook-Other',
    headers: () => [
      ['X-Gitlab-Event', 'Push Hook'],
      ['X-Gitlab-Webhook-UUID', 'w1'],
    ],
  }),
  recipe({
    row: 'postmark',
    tokenOnly: true,
    wrapped: true,
    covers: 'nothing',
    header: 'Authorization',
    enc: 'base64',
    digest: ({ secret }) => Buffer.from(secret),
    value: (token) => `Basic ${token}`,
    secret: 'hook-user:Hook-Password',
    other: 'hook-user:Other',
    event: () => ({ RecordType: 'Delivery', MessageID: 'm1' }),
    headers: () => [['User-Agent', 'Postmark']],
  }),
  recipe({
    row: 'cloudevents',
    tokenOnly: true,
    wrapped: true,
    covers: 'nothing',
    header: 'Authorization',
    enc: 'utf8',
    digest: ({ secret }) => Buffer.from(secret),
    value: (token) => `Bearer ${token}`,
    secret: 'Bearer-token-1',
    other: 'Bearer-token-2',
    headers: ({ id }) => [
      ['ce-id', id],
      ['ce-type', 'order.paid'],
      ['ce-source', '/shop'],
      ['ce-specversion', '1.0'],
      ['WebHook-Request-Origin', 'eventemitter.example.com'],
    ],
  }),
  recipe({
    row: 'figma',
    tokenOnly: true,
    signedInside: true,
    covers: 'nothing',
    secret: 'Figma passcode',
    other: 'Other passcode',
    inside: (body, about) => ({
      ...body,
      passcode: about.shape(Buffer.from(about.secret)),
      event_type: 'FILE_UPDATE',
      webhook_id: '22',
    }),
    enc: 'utf8',
  }),
];
