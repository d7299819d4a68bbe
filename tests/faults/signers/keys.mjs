// Providers that sign with a private key, each with a pair generated for this run, and providers that send a JWT.
import { execFileSync } from 'node:child_process';
import { createHash, createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

import { recipe } from './recipe.mjs';

const pair = (kind, options) => generateKeyPairSync(kind, options);
const raw = (key) => Buffer.from(key.export({ format: 'jwk' }).x, 'base64url');

// Makes a self-signed certificate, which node:crypto can't make.
function certified(name) {
  const folder = mkdtempSync(join(tmpdir(), 'faults-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '36500',
        '-subj',
        `/CN=${name}`,
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    );
    return { secret: readFileSync(key, 'utf8'), publicKey: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// Makes an asymmetric row, with its own key pair and a foreign one.
function keyed(given, own, foreign, show) {
  return recipe({
    kind: 'public',
    secret: own.privateKey,
    publicKey: show(own.publicKey),
    otherPublicKey: show(foreign.publicKey),
    other: foreign.privateKey,
    digest: (about) =>
      signWith(null, Buffer.concat(given.content(about).map((part) => Buffer.from(part))), about.secret),
    ...given,
  });
}

const [ed, edOther] = [pair('ed25519'), pair('ed25519')];
const [ec, ecOther] = [1, 2].map(() => pair('ec', { namedCurve: 'P-256' }));
const [rsa, rsaOther] = [1, 2].map(() => pair('rsa', { modulusLength: 2048 }));
const [sns, paypal, foreignCert] = [
  'sns.amazonaws.com',
  'messageverificationcerts.paypal.com',
  'messageverificationcerts.paypal.com',
].map(certified);
const spki = (key) => key.export({ type: 'spki', format: 'der' }).toString('base64');
const pem = (key) => key.export({ type: 'spki', format: 'pem' });
const jwk = (key) => JSON.stringify({ ...key.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'ES256' });

const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const bodyHash = (body) => createHash('sha256').update(body).digest('hex');

// Returns a JWT with these claims; faults change it through `about.jwt`.
function jwt(about, header, claims, signer) {
  const head = `${part({ ...header, ...about.jwt?.header })}.${part({ ...claims, ...about.jwt?.claims })}`;
  return `${head}.${about.jwt?.unsigned ? '' : about.shape(signer(head))}`;
}
const hs256 = (about) => (head) => createHmac(about.alg, about.secret).update(head).digest();
const es256 = (about) => (head) =>
  signWith('sha256', Buffer.from(head), { key: about.secret, dsaEncoding: 'ieee-p1363' });
const rs256 = (about) => (head) => signWith('sha256', Buffer.from(head), about.secret);

const snsKeys = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'];
const snsText = (body) => snsKeys.map((key) => `${key}\n${body[key]}\n`).join('');

export default [
  keyed(
    {
      row: 'discord',
      header: 'X-Signature-Ed25519',
      enc: 'hex',
      time: { unit: 's', header: 'X-Signature-Timestamp' },
      content: ({ stamp, body }) => [stamp, body],
      event: () => ({ version: 1, application_id: '1234560123453231555', type: 1 }),
    },
    ed,
    edOther,
    (key) => raw(key).toString('hex'),
  ),
  ...['standardwebhooks', 'svix'].map((provider) => {
    const names = provider === 'svix' ? 'svix' : 'webhook';
    return keyed(
      {
        row: `${provider} v1a`,
        provider,
        header: `${names}-signature`,
        enc: 'base64',
        prefix: 'v1a,',
        value: (signature) => `v1a,${signature}`,
        idHeader: `${names}-id`,
        time: { unit: 's', header: `${names}-timestamp`, tolerance: 300, future: true },
        content: ({ id, stamp, body }) => [`${id}.${stamp}.`, body],
      },
      ed,
      edOther,
      (key) => `whpk_${raw(key).toString('base64')}`,
    );
  }),
  keyed(
    {
      row: 'sendgrid',
      header: 'X-Twilio-Email-Event-Webhook-Signature',
      enc: 'base64',
      time: { unit: 's', header: 'X-Twilio-Email-Event-Webhook-Timestamp' },
      der: true,
      content: ({ stamp, body }) => [stamp, body],
      digest: ({ stamp, body, secret }) => signWith('sha256', Buffer.concat([Buffer.from(stamp), body]), secret),
      whole: ({ id }, common) => [
        { email: 'a@example.com', event: 'processed', sg_event_id: id, ...common.data },
        { email: 'b@example.com', event: 'bounce', sg_event_id: 'b2' },
      ],
      style: 'batch',
    },
    ec,
    ecOther,
    spki,
  ),
  recipe({
    row: 'netlify',
    header: 'X-Webhook-Signature',
    enc: 'base64url',
    jws: true,
    secret: 'netlify_jws_secret',
    other: 'netlify_other',
    headers: () => [['X-Netlify-Event', 'deploy_created']],
    make: (about) =>
      jwt(about, { typ: 'JWT', alg: 'HS256' }, { iss: 'netlify', sha256: bodyHash(about.body) }, hs256(about)),
  }),
  keyed(
    {
      row: 'plaid',
      header: 'Plaid-Verification',
      enc: 'base64url',
      jws: true,
      style: 'pretty2',
      time: { unit: 's', claim: true, tolerance: 300 },
      content: () => [],
      make: (about) =>
        jwt(
          about,
          { alg: 'ES256', kid: 'k1', typ: 'JWT' },
          { iat: Number(about.stamp), request_body_sha256: bodyHash(about.body) },
          es256(about),
        ),
    },
    ec,
    ecOther,
    jwk,
  ),
  keyed(
    {
      row: 'google_pubsub',
      header: 'Authorization',
      enc: 'base64url',
      jws: true,
      covers: 'nothing',
      content: () => [],
      kid: true,
      params: {
        audience: 'https://hooks.example.com/in',
        service_account_email: 'push@demo.iam.gserviceaccount.com',
        kid: 'k1',
      },
      headers: () => [['User-Agent', 'APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)']],
      make: (about) =>
        `Bearer ${jwt(
          about,
          { alg: 'RS256', kid: 'k1', typ: 'JWT' },
          {
            aud: 'https://hooks.example.com/in',
            azp: '1',
            sub: '1',
            email: 'push@demo.iam.gserviceaccount.com',
            email_verified: true,
            iat: about.now - 10,
            exp: about.now + 3590,
            iss: 'https://accounts.google.com',
          },
          rs256(about),
        )}`,
      whole: ({ id }) => ({
        message: { data: 'eyJhIjoxfQ==', messageId: id, attributes: {} },
        subscription: 'projects/p/subscriptions/s',
      }),
    },
    rsa,
    rsaOther,
    pem,
  ),
  recipe({
    row: 'monday',
    header: 'Authorization',
    enc: 'base64url',
    jws: true,
    covers: 'nothing',
    secret: 'monday_signing_secret',
    other: 'monday_other_secret',
    make: (about) =>
      jwt(
        about,
        { alg: 'HS256', typ: 'JWT' },
        { accountId: 1, userId: 2, aud: 'https://hooks.example.com/in', iat: about.now - 10, exp: about.now + 290 },
        hs256(about),
      ),
    event: () => ({ event: { pulseId: 1, triggerUuid: 'u1', type: 'create_item' } }),
  }),
  recipe({
    row: 'aws_sns',
    kind: 'public',
    params: { topic_arn: 'arn:aws:sns:us-west-2:123456789012:MyTopic' },
    ...sns,
    other: foreignCert.secret,
    otherPublicKey: foreignCert.publicKey,
    enc: 'base64',
    covers: 'values',
    signedInside: true,
    type: 'text/plain; charset=UTF-8',
    style: 'pretty2',
    whole: ({ id, now, certUrl }) => ({
      Type: 'Notification',
      MessageId: id,
      TopicArn: 'arn:aws:sns:us-west-2:123456789012:MyTopic',
      Subject: 'Zoë',
      Message: 'a/b & <c>\nsecond line',
      Timestamp: new Date(now * 1000).toISOString(),
      SignatureVersion: '2',
      SigningCertURL: certUrl ?? 'https://sns.us-west-2.amazonaws.com/SimpleNotificationService-faults.pem',
    }),
    inside: (body, about) => ({
      ...body,
      Signature: about.shape(signWith('sha256', Buffer.from(snsText(body)), about.secret)),
    }),
    headers: ({ id }) => [
      ['x-amz-sns-message-type', 'Notification'],
      ['x-amz-sns-message-id', id],
      ['User-Agent', 'Amazon Simple Notification Service Agent'],
    ],
  }),
  recipe({
    row: 'paypal',
    kind: 'public',
    ...paypal,
    other: foreignCert.secret,
    otherPublicKey: foreignCert.publicKey,
    header: 'PAYPAL-TRANSMISSION-SIG',
    enc: 'base64',
    params: { webhook_id: '1JE4291016473214C' },
    time: { unit: 'iso', header: 'PAYPAL-TRANSMISSION-TIME' },
    idHeader: 'PAYPAL-TRANSMISSION-ID',
    headers: () => [
      ['PAYPAL-CERT-URL', 'https://api.paypal.com/v1/notifications/certs/CERT-faults'],
      ['PAYPAL-AUTH-ALGO', 'SHA256withRSA'],
    ],
    event: () => ({ event_type: 'PAYMENT.CAPTURE.COMPLETED' }),
    digest: (about) =>
      signWith(
        'sha256',
        Buffer.from(`${about.id}|${about.stamp}|${about.webhookId ?? '1JE4291016473214C'}|${crc32(about.body)}`),
        about.secret,
      ),
  }),
];
