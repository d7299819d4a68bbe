// Payments and shops.
import crypto from 'node:crypto';
import { parse as parseForm, stringify as writeForm } from 'node:querystring';

import { Paddle } from '@paddle/paddle-node-sdk';
import '@shopify/shopify-api/adapters/node';
import { ApiVersion, LogSeverity, shopifyApi } from '@shopify/shopify-api';
import braintree from 'braintree';
import { verifySignature as gocardlessVerify } from 'gocardless-nodejs/webhooks';
import Razorpay from 'razorpay';
import Stripe from 'stripe';

import { header, lower, mac, refuse, seconds } from './shape.mjs';

const stripe = new Stripe('sk_test_hookmitt');
const paddle = new Paddle('pdl_hookmitt');
const shopify = (secret) => shopifyApi({
  apiKey: 'hookmitt', apiSecretKey: secret, apiVersion: Object.values(ApiVersion).at(-1), hostName: 'localhost',
  isEmbeddedApp: false, logger: { level: LogSeverity.Error, log: () => {} },
});
const gateway = ({ secret, params }) => new braintree.BraintreeGateway({
  environment: braintree.Environment.Sandbox, merchantId: 'hookmitt', publicKey: params.public_key_id, privateKey: secret,
});

export const money = {
  stripe: {
    package: 'stripe',
    sign: ({ secret, body }) => [
      ['Stripe-Signature', stripe.webhooks.generateTestHeaderString({ payload: body.toString(), secret, timestamp: seconds() })]],
    verify: ({ secret, body, headers }) =>
      stripe.webhooks.signature.verifyHeader(body.toString(), header(headers, 'stripe-signature'), secret, 300),
  },
  shopify: {
    package: '@shopify/shopify-api',
    signed_by: 'recipe accepted by webhooks.validate',
    sign: ({ secret, body }) => [
      ['X-Shopify-Topic', 'orders/create'], ['X-Shopify-Shop-Domain', 'demo.myshopify.com'],
      ['X-Shopify-API-Version', '2026-10'], ['X-Shopify-Webhook-Id', crypto.randomUUID()],
      ['X-Shopify-Event-Id', crypto.randomUUID()], ['X-Shopify-Triggered-At', new Date().toISOString()],
      ['X-Shopify-Hmac-Sha256', mac('sha256', secret, 'base64', body)]],
    verify: async ({ secret, body, headers, method, url }) => {
      const rawRequest = { method: method ?? 'POST', url: url ?? '/', headers: lower(headers) };
      const answer = await shopify(secret).webhooks.validate({ rawBody: body.toString(), rawRequest, rawResponse: {} });
      if (!answer.valid) refuse(answer.reason);
    },
  },
  paddle: {
    package: '@paddle/paddle-node-sdk',
    signed_by: 'recipe accepted by webhooks.isSignatureValid',
    sign: ({ secret, body }) => {
      const at = seconds();
      return [['Paddle-Signature', `ts=${at};h1=${mac('sha256', secret, 'hex', `${at}:`, body)}`]];
    },
    verify: async ({ secret, body, headers }) =>
      await paddle.webhooks.isSignatureValid(body.toString(), secret, header(headers, 'paddle-signature'))
        || refuse('isSignatureValid says no'),
  },
  razorpay: {
    package: 'razorpay',
    signed_by: 'recipe accepted by validateWebhookSignature',
    sign: ({ secret, body }) => [
      ['X-Razorpay-Signature', mac('sha256', secret, 'hex', body)], ['x-razorpay-event-id', crypto.randomUUID()]],
    verify: ({ secret, body, headers }) =>
      Razorpay.validateWebhookSignature(body.toString(), header(headers, 'x-razorpay-signature'), secret)
        || refuse('validateWebhookSignature says no'),
  },
  braintree: {
    package: 'braintree',
    sign: async (order) => {
      const form = await gateway(order).webhookTesting.sampleNotification('check', 'hookmitt');
      const headers = [['Content-Type', 'application/x-www-form-urlencoded']];
      return { headers, body: writeForm(form) };
    },
    verify: async (order) => {
      const { bt_signature: signature, bt_payload: payload } = parseForm(order.body.toString());
      await gateway(order).webhookNotification.parse(signature, payload);
    },
  },
  gocardless: {
    package: 'gocardless-nodejs',
    signed_by: 'recipe accepted by verifySignature',
    sign: ({ secret, body }) => [['Webhook-Signature', mac('sha256', secret, 'hex', body)]],
    verify: ({ secret, body, headers }) =>
      gocardlessVerify(body, secret, header(headers, 'webhook-signature')),
  },
};
