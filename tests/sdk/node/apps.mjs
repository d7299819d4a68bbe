// Code, content, identity and clouds.
import crypto from 'node:crypto';
import https from 'node:https';

import { signRequest as contentfulSign, verifyRequest as contentfulVerify } from '@contentful/node-apps-toolkit';
import { LinearWebhookClient } from '@linear/sdk/webhooks';
import Mux from '@mux/mux-node';
import { signWebhookPayload as notionSign, verifyWebhookSignature as notionVerify } from '@notionhq/client';
import { sign as githubSign, verify as githubVerify } from '@octokit/webhooks-methods';
import { assertValidSignature as sanityVerify, encodeSignatureHeader as sanitySign } from '@sanity/webhook';
import { WorkOS } from '@workos-inc/node';
import { OAuth2Client } from 'google-auth-library';
import SnsValidator from 'sns-validator';

import { header, lower, mac, refuse, seconds } from './shape.mjs';

const mux = new Mux({ tokenId: 'hookmitt', tokenSecret: 'hookmitt' });
const workos = new WorkOS('sk_hookmitt');

const pathQuery = (url) => url.replace(/^[a-z]+:\/\/[^/]+/, '');
const base64url = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Answers the validator's download of the certificate with `pem`, whatever the URL is. */
async function withCertificate(pem, work) {
  const real = https.get;
  https.get = (_url, answer) => {
    const events = {};
    const response = { statusCode: 200, on: (name, run) => { events[name] = run; return response; } };
    answer(response);
    events.data(Buffer.from(pem));
    events.end();
    return { on: () => {} };
  };
  try { return await work(); } finally { https.get = real; }
}

const SNS_SIGNED = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];

export const apps = {
  github: {
    package: '@octokit/webhooks-methods',
    sign: async ({ secret, body }) => [
      ['X-GitHub-Event', 'push'], ['X-GitHub-Delivery', crypto.randomUUID()],
      ['X-Hub-Signature-256', await githubSign(secret, body.toString())]],
    verify: async ({ secret, body, headers }) =>
      await githubVerify(secret, body.toString(), header(headers, 'x-hub-signature-256')) || refuse('signature mismatch'),
  },
  mux: {
    package: '@mux/mux-node',
    signed_by: 'recipe accepted by webhooks.verifySignature',
    sign: ({ secret, body }) => {
      const at = seconds();
      return [['Mux-Signature', `t=${at},v1=${mac('sha256', secret, 'hex', `${at}.`, body)}`]];
    },
    verify: ({ secret, body, headers }) => mux.webhooks.verifySignature(body.toString(), lower(headers), secret),
  },
  linear: {
    package: '@linear/sdk',
    signed_by: 'recipe accepted by LinearWebhookClient',
    sign: ({ secret, body }) => {
      const dated = JSON.stringify({ ...JSON.parse(body), webhookTimestamp: Date.now() });
      const headers = [['Linear-Delivery', crypto.randomUUID()], ['Linear-Event', 'Issue'],
        ['Linear-Signature', mac('sha256', secret, 'hex', dated)]];
      return { headers, body: dated };
    },
    verify: ({ secret, body, headers }) =>
      new LinearWebhookClient(secret).parseVerifiedPayload(body, header(headers, 'linear-signature')),
  },
  notion: {
    package: '@notionhq/client',
    sign: async ({ secret, body }) => [
      ['X-Notion-Signature', await notionSign({ body, verificationToken: secret })]],
    verify: async ({ secret, body, headers }) =>
      await notionVerify({ body, signature: header(headers, 'x-notion-signature'), verificationToken: secret })
        || refuse('verifyWebhookSignature says no'),
  },
  contentful: {
    package: '@contentful/node-apps-toolkit',
    sign: ({ secret, body, url, method }) => {
      const given = { 'content-type': 'application/vnd.contentful.management.v1+json', 'x-contentful-topic': 'ContentManagement.Entry.publish' };
      const request = { method, path: pathQuery(url), headers: given, body: body.toString() };
      return Object.entries({ ...given, ...contentfulSign(secret, request, Date.now()) });
    },
    verify: ({ secret, body, headers, url, method }) => {
      const request = { method, path: pathQuery(url), headers: lower(headers), body: body.toString() };
      if (!contentfulVerify(secret, request)) refuse('verifyRequest says no');
    },
  },
  sanity: {
    package: '@sanity/webhook',
    sign: async ({ secret, body }) => [
      ['sanity-webhook-signature', await sanitySign(body.toString(), Date.now(), secret)]],
    verify: ({ secret, body, headers }) =>
      sanityVerify(body.toString(), header(headers, 'sanity-webhook-signature'), secret),
  },
  workos: {
    package: '@workos-inc/node',
    sign: async ({ secret, body }) => {
      const at = Date.now();
      return [['WorkOS-Signature', `t=${at}, v1=${await workos.webhooks.computeSignature(at, JSON.parse(body), secret)}`]];
    },
    verify: ({ secret, body, headers }) => workos.webhooks.verifyHeader({
      payload: JSON.parse(body), sigHeader: header(headers, 'workos-signature'), secret }),
  },
  aws_sns: {
    package: 'sns-validator',
    signed_by: 'recipe accepted by MessageValidator',
    sign: ({ private_key: key, body }) => {
      const message = JSON.parse(body);
      const text = SNS_SIGNED.filter((name) => name in message).map((name) => `${name}\n${message[name]}\n`).join('');
      const hash = message.SignatureVersion === '2' ? 'sha256' : 'sha1';
      message.Signature = crypto.sign(hash, Buffer.from(text), key).toString('base64');
      const headers = [['Content-Type', 'text/plain; charset=UTF-8'], ['x-amz-sns-message-type', message.Type],
        ['x-amz-sns-message-id', message.MessageId]];
      return { headers, body: JSON.stringify(message) };
    },
    verify: ({ public_key: key, body }) => withCertificate(key, () =>
      new Promise((done, fail) => {
        new SnsValidator().validate(body.toString(), (error, message) => (error ? fail(error) : done(message)));
      })),
  },
  google_pubsub: {
    package: 'google-auth-library',
    signed_by: 'recipe accepted by verifySignedJwtWithCertsAsync',
    sign: ({ private_key: key, params }) => {
      const claims = { iss: 'https://accounts.google.com', aud: params.audience, email: params.service_account_email,
        email_verified: true, iat: seconds(), exp: seconds() + 3600 };
      const signed = `${base64url({ alg: 'RS256', kid: 'hookmitt', typ: 'JWT' })}.${base64url(claims)}`;
      const signature = crypto.sign('sha256', Buffer.from(signed), key).toString('base64url');
      return [['Authorization', `Bearer ${signed}.${signature}`]];
    },
    verify: async ({ public_key: key, headers, params }) => {
      const token = header(headers, 'authorization').replace(/^Bearer /, '');
      const { kid } = JSON.parse(Buffer.from(token.split('.')[0], 'base64url'));
      const ticket = await new OAuth2Client().verifySignedJwtWithCertsAsync(
        token, { [kid]: key }, params.audience, ['https://accounts.google.com', 'accounts.google.com']);
      if (ticket.getPayload().email !== params.service_account_email) refuse('another service account');
    },
  },
};
