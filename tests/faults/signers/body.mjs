// Providers that sign the body's bytes and nothing else.
import { base64, recipe } from './recipe.mjs';

const plain = (given) => recipe({ ...given, plain: true });
const after = (prefix) => ({ prefix, value: (signature) => prefix + signature });

export default [
  plain({
    row: 'github', header: 'X-Hub-Signature-256', ...after('sha256='), secret: "It's a Secret to Everybody", other: 'another secret',
    headers: () => [['X-GitHub-Event', 'push'], ['X-GitHub-Delivery', '72d3162e-cc78-11e3-81ab-4c9367dc0958']],
  }),
  plain({
    row: 'github sha1', provider: 'github', header: 'X-Hub-Signature', alg: 'sha1', ...after('sha1='), secret: 'c2VjcmV0IG9mIHRoZSBob29r', other: 'another',
    headers: () => [['X-GitHub-Event', 'push'], ['X-GitHub-Delivery', '72d3162e-cc78-11e3-81ab-4c9367dc0959']],
  }),
  plain({
    row: 'github form', provider: 'github', header: 'X-Hub-Signature-256', ...after('sha256='), secret: 'hook secret', other: 'another hook',
    style: 'payload', type: 'application/x-www-form-urlencoded',
    headers: () => [['X-GitHub-Event', 'push'], ['X-GitHub-Delivery', '72d3162e-cc78-11e3-81ab-4c9367dc0960']],
  }),
  plain({
    row: 'bitbucket', header: 'X-Hub-Signature', ...after('sha256='), secret: 'bitbucket secret', other: 'bitbucket other',
    headers: () => [['X-Event-Key', 'repo:push'], ['X-Hook-UUID', '{5d1e}'], ['X-Request-UUID', 'd7d1c4e2']],
  }),
  plain({
    row: 'gitea', header: 'X-Gitea-Signature', secret: 'gitea-secret', other: 'gitea-other', style: 'go', 
    headers: () => [['X-Gitea-Event', 'push'], ['X-Gitea-Delivery', 'f6266f16-1bf3-46a5-9ea4-602e06ead473'], ['X-GitHub-Event', 'push'], ['X-GitHub-Delivery', 'f6266f16-1bf3-46a5-9ea4-602e06ead473']],
  }),
  plain({ row: 'shopify', header: 'X-Shopify-Hmac-Sha256', enc: 'base64', secret: 'shpss_0a1b2c3d4e5f', other: 'shpss_f0f1f2f3', style: 'php', headers: () => [['X-Shopify-Topic', 'orders/paid'], ['X-Shopify-Shop-Domain', 'demo.myshopify.com'], ['X-Shopify-API-Version', '2026-07'], ['X-Shopify-Webhook-Id', 'b54557e4'], ['X-Shopify-Event-Id', '98880550']] }),
  plain({ row: 'meta', header: 'X-Hub-Signature-256', ...after('sha256='), kind: 'hex-text', secret: '0123456789abcdef0123456789abcdef', other: 'ffffffffffffffff0123456789abcdef', style: 'php', event: () => ({ object: 'page', entry: [] }), headers: () => [['User-Agent', 'facebookexternalua']] }),
  plain({ row: 'line', header: 'x-line-signature', enc: 'base64', kind: 'hex-text', secret: '8c570fa6dd201bb328f1c1eac23a96d8', other: '00570fa6dd201bb328f1c1eac23a96d8', event: () => ({ destination: 'U1', events: [] }) }),
  plain({ row: 'lemonsqueezy', header: 'X-Signature', secret: 'ls_secret_1', other: 'ls_secret_2', headers: () => [['X-Event-Name', 'order_created']] }),
  plain({ row: 'razorpay', header: 'X-Razorpay-Signature', secret: 'rzp secret 1', other: 'rzp secret 2', event: () => ({ entity: 'event', event: 'payment.captured' }), headers: () => [['x-razorpay-event-id', 'Q1Kc8wVb3JmZ0a']] }),
  plain({ row: 'coinbase_commerce', header: 'X-CC-Webhook-Signature', secret: '30291a20-0bd1-4267-9b0f-e6e7b123c0bf', other: '00001a20-0bd1-4267-9b0f-e6e7b123c0bf' }),
  plain({ row: 'fireflies', header: 'X-Hub-Signature', ...after('sha256='), secret: 'ff_secret_16_chars', other: 'ff_secret_other', event: () => ({ meeting_id: 'm1', event: 'meeting.transcribed' }) }),
  plain({ row: 'notion', header: 'X-Notion-Signature', ...after('sha256='), secret: 'secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce', other: 'secret_0000L1qK5vuQAh1b6cZGhFChZTSYJlce' }),
  plain({ row: 'vercel', header: 'x-vercel-signature', alg: 'sha1', secret: 'vercel_secret', other: 'vercel_other' }),
  plain({ row: 'intercom', header: 'X-Hub-Signature', alg: 'sha1', ...after('sha1='), secret: 'd2e8c5f0-51a4', other: 'a1b2c3d4-51a4', event: () => ({ type: 'notification_event', topic: 'user.created', app_id: 'a1' }) }),
  plain({ row: 'typeform', header: 'Typeform-Signature', enc: 'base64', ...after('sha256='), secret: 'tf_secret', other: 'tf_other' }),
  plain({ row: 'docusign', header: 'X-DocuSign-Signature-1', enc: 'base64', kind: 'base64-text', secret: 'oQ2lLcBHEbKyJ4iAXWyGY8tBdn7ZnRI0RTbJ2z8gWhA=', other: 'AAAlLcBHEbKyJ4iAXWyGY8tBdn7ZnRI0RTbJ2z8gWhA=', style: 'pretty2' }),
  plain({ row: 'xero', header: 'x-xero-signature', enc: 'base64', kind: 'base64-text', secret: 'OSd0eLlVIY9ZhViEqlDUh4+6n6M+Lo+eDaEJheJ6OCCgWwIz2D3JIAU6jPMipHRbgKTLz2uJ+xiACXGDBLrgdA==', other: 'AAAAeLlVIY9ZhViEqlDUh4+6n6M+Lo+eDaEJheJ6OCCgWwIz2D3JIAU6jPMipHRbgKTLz2uJ+xiACXGDBLrgdA==', event: () => ({ events: [{ resourceId: 'r1' }] }) }),
  plain({ row: 'asana', header: 'X-Hook-Signature', kind: 'hex-text', secret: 'b537207f20cbfa02357cf448134da559', other: '0537207f20cbfa02357cf448134da559', style: 'ascii', event: () => ({ events: [{ action: 'changed' }] }) }),
  plain({ row: 'pagerduty', header: 'X-PagerDuty-Signature', ...after('v1='), secret: 'pd_secret', other: 'pd_other', headers: () => [['X-Webhook-Id', 'P1'], ['X-Webhook-Subscription', 'PSUB']] }),
  plain({ row: 'sentry', header: 'Sentry-Hook-Signature', kind: 'hex-text', secret: '5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e', other: '0ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e', style: 'python', headers: () => [['Sentry-Hook-Resource', 'issue'], ['Sentry-Hook-Timestamp', '1750000000'], ['Request-ID', '4e4a6e6c']] }),
  plain({ row: 'dropbox', header: 'X-Dropbox-Signature', secret: 'dropbox_app_secret', other: 'dropbox_other', style: 'python', event: () => ({ list_folder: { accounts: [] } }) }),
  plain({ row: 'woocommerce', header: 'X-WC-Webhook-Signature', enc: 'base64', kind: 'html', secret: 'wc_secret_1', other: 'wc_secret_2', style: 'php', headers: () => [['X-WC-Webhook-Topic', 'order.created'], ['X-WC-Webhook-Delivery-ID', 'd1']] }),
  plain({ row: 'gocardless', header: 'Webhook-Signature', secret: 'ED7D658C-D8EB-4941-948B-3973214F2D49', other: '007D658C-D8EB-4941-948B-3973214F2D49', event: () => ({ events: [{ id: 'EV1', resource_type: 'payments', action: 'created' }] }) }),
  plain({ row: 'airtable', header: 'X-Airtable-Content-MAC', ...after('hmac-sha256='), kind: 'base64', key: base64, secret: 'BQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU=', other: 'BgYFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU=' }),
];
