// Chat, calls and mail.
import { sign as signWith } from 'node:crypto';
import { createRequire } from 'node:module';
import { parse as parseForm } from 'node:querystring';
import { fileURLToPath } from 'node:url';

import { validateSignature as lineVerify } from '@line/bot-sdk';
import sendgrid from '@sendgrid/eventwebhook';
import { AwsLambdaReceiver } from '@zoom/rivet/chatbot';
import discord from 'discord-interactions';
import { Bot, webhookCallback } from 'grammy';
import twilio from 'twilio';

import { header, lower, mac, refuse, seconds } from './shape.mjs';

const require = createRequire(import.meta.url);
// Bolt's index starts its whole framework; a receiver only calls the verifier.
const { verifySlackRequest } = require(fileURLToPath(
  new URL('../node_modules/@slack/bolt/dist/receivers/verify-request.js', import.meta.url)));

const FORM = 'application/x-www-form-urlencoded';

/** Parses a form as Express does: a name that occurs twice has a list of values. */
const formOf = ({ body, headers }) =>
  (header(headers, 'content-type').startsWith(FORM) ? parseForm(body.toString()) : {});

export const messages = {
  slack: {
    package: '@slack/bolt',
    signed_by: 'recipe accepted by verifySlackRequest',
    sign: ({ secret, body }) => {
      const at = String(seconds());
      return [['X-Slack-Request-Timestamp', at],
        ['X-Slack-Signature', `v0=${mac('sha256', secret, 'hex', `v0:${at}:`, body)}`]];
    },
    verify: ({ secret, body, headers }) => {
      const named = lower(headers);
      verifySlackRequest({ signingSecret: secret, body: body.toString(), headers: {
        'x-slack-signature': named['x-slack-signature'] ?? '',
        'x-slack-request-timestamp': Number(named['x-slack-request-timestamp']) } });
    },
  },
  telegram: {
    package: 'grammy', // Telegram has no SDK of its own
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
  twilio: {
    package: 'twilio',
    sign: ({ secret, body, url, scheme }) => {
      if (scheme === 'twilio-json-bodysha256') {
        const signed = `${url}${url.includes('?') ? '&' : '?'}bodySHA256=${twilio.getExpectedBodyHash(body.toString())}`;
        const headers = [['Content-Type', 'application/json'],
          ['X-Twilio-Signature', twilio.getExpectedTwilioSignature(secret, signed, {})]];
        return { url: signed, headers };
      }
      const headers = [['Content-Type', FORM]];
      const signature = twilio.getExpectedTwilioSignature(secret, url, formOf({ body, headers }));
      return [...headers, ['X-Twilio-Signature', signature]];
    },
    verify: ({ secret, body, headers, url }) => {
      const signature = header(headers, 'x-twilio-signature');
      const valid = url.includes('bodySHA256=')
        ? twilio.validateRequestWithBody(secret, signature, url, body.toString())
        : twilio.validateRequest(secret, signature, url, formOf({ body, headers }));
      if (!valid) refuse('validateRequest says no');
    },
  },
  sendgrid: {
    package: '@sendgrid/eventwebhook',
    signed_by: 'recipe accepted by verifySignature',
    sign: ({ private_key: key, body }) => {
      const at = String(seconds());
      const signature = signWith('sha256', Buffer.concat([Buffer.from(at), body]), key).toString('base64');
      return [['X-Twilio-Email-Event-Webhook-Signature', signature], ['X-Twilio-Email-Event-Webhook-Timestamp', at]];
    },
    verify: ({ public_key: key, body, headers }) => {
      const webhook = new sendgrid.EventWebhook();
      const valid = webhook.verifySignature(webhook.convertPublicKeyToECDSA(key), body,
        header(headers, 'x-twilio-email-event-webhook-signature'),
        header(headers, 'x-twilio-email-event-webhook-timestamp'));
      if (!valid) refuse('verifySignature says no');
    },
  },
  discord: {
    package: 'discord-interactions',
    signed_by: 'recipe accepted by verifyKey',
    sign: ({ private_key: key, body }) => {
      const at = String(seconds());
      const signature = signWith(null, Buffer.concat([Buffer.from(at), body]), key).toString('hex');
      return [['X-Signature-Ed25519', signature], ['X-Signature-Timestamp', at]];
    },
    verify: async ({ public_key: key, body, headers }) => {
      const [signature, at] = ['x-signature-ed25519', 'x-signature-timestamp'].map((name) => header(headers, name));
      if (!await discord.verifyKey(body, signature, at, key)) refuse('verifyKey says no');
    },
  },
  line: {
    package: '@line/bot-sdk',
    signed_by: 'recipe accepted by validateSignature',
    sign: ({ secret, body }) => [['x-line-signature', mac('sha256', secret, 'base64', body)]],
    verify: ({ secret, body, headers }) =>
      lineVerify(body, secret, header(headers, 'x-line-signature')) || refuse('validateSignature says no'),
  },
  zoom: {
    package: '@zoom/rivet',
    signed_by: 'recipe accepted by AwsLambdaReceiver',
    sign: ({ secret, body }) => {
      const at = String(seconds());
      return [['x-zm-request-timestamp', at], ['x-zm-signature', `v0=${mac('sha256', secret, 'hex', `v0:${at}:`, body)}`]];
    },
    verify: async ({ secret, body, headers }) => {
      const handle = new AwsLambdaReceiver({ webhooksSecretToken: secret }).start();
      const event = { body: body.toString(), headers: lower(headers), isBase64Encoded: false };
      const answer = await handle(event, {});
      if (answer.statusCode !== 200) refuse(answer.body);
    },
  },
};
