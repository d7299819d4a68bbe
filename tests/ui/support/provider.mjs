// A provider's API on this machine, which lists events as Stripe does, and a connector that asks it.
import { createServer } from 'node:http';

import { eventually } from './wait.mjs';

/** The key that it takes. */
export const KEY = 'rk_test_51N4hT3mE0fHookmitt4242';

/** An event of Stripe's, as its API gives it. `ago` is in seconds. */
export const invoice = (number, ago, type = 'invoice.paid') => ({
  id: `evt_1QK7${String(number).padStart(5, '0')}`, object: 'event', created: Math.floor(Date.now() / 1000) - ago, type,
  data: { object: { id: `in_${number}`, object: 'invoice', amount_due: 1200 + number, currency: 'eur', customer_name: 'Acme GmbH' } },
});

/** Stripe's API, as far as sync asks it. */
export class Provider {
  /** What it lists, in any order. */
  events = [];
  /** The most that a page of its list has. */
  most = 100;
  /** Whether the content of each event is asked for by itself; it has none of those in `emptied`. */
  detailed = false;
  emptied = new Set();
  /** Decides whether it answers otherwise: `{ status, body }`, or a promise that it waits for first. */
  instead = () => undefined;
  /** The addresses that were called. */
  seen = [];
  #server = createServer((request, response) => void this.#answer(request, response));

  static async start(events = [], { most = 100, detailed = false } = {}) {
    const provider = Object.assign(new Provider(), { events, most, detailed });
    await new Promise((resolve) => provider.#server.listen(0, '127.0.0.1', resolve));
    provider.url = `http://127.0.0.1:${provider.#server.address().port}/v1/events`;
    return provider;
  }

  /** The connector with which a source asks it. */
  get connector() {
    const detail = this.detailed && { detail: { url: `${this.url}/{{/id}}` } };
    return {
      name: 'Stripe', hosts: ['127.0.0.1'], days: 30, gives: 'event',
      lost: ['Events that are older than 30 days.', 'The signature: the API gives the event, not what was sent, so a copy is unsigned.'],
      key: { sent: 'bearer', scope: 'A restricted key (rk_…) that may read events, and nothing else.', hint: 'Stripe Dashboard, Developers, API keys' },
      check: { url: this.url, query: [['limit', '1']] },
      list: {
        ...detail, items: '/data', id: '/id', time: '/created', next: { last_id: '/has_more' }, newest_first: true,
        call: { url: this.url, query: [['limit', String(this.most)], ['created[gte]', '{{since|s}}'], ['created[lt]', '{{until|s}}'], ['starting_after', '{{cursor}}']] },
      },
      event: { headers: [['Content-Type', 'application/json; charset=utf-8']], body: '' },
    };
  }

  /** Makes a source that asks it, by hand only; with `key`, it has one. */
  async source(api, slug, { key, ...settings } = {}) {
    await api.source(slug, { provider: 'stripe' });
    await api.ask('PATCH', `/api/sync/${slug}`, { connector: this.connector, every_s: 0, ...settings });
    if (key) await api.ask('PUT', `/api/sync/${slug}/key`, { value_base64: Buffer.from(key).toString('base64') });
  }

  /** Waits until it was called so often. */
  async waitFor(count) {
    await eventually(`the provider is called ${count} times`, () => this.seen.length >= count);
  }

  async stop() {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request, response) {
    this.seen.push(request.url);
    const { status, body } = (await this.instead(request)) ?? this.#list(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #list({ url, headers }) {
    const asked = new URL(url, this.url).searchParams;
    const number = (name, otherwise) => Number(asked.get(name) ?? otherwise);
    if (headers.authorization !== `Bearer ${KEY}`) {
      return { status: 401, body: { error: { message: 'Invalid API Key provided: rk_****', type: 'invalid_request_error' } } };
    }
    const one = new URL(url, this.url).pathname.split('/v1/events/')[1];
    if (one) {
      const found = this.emptied.has(one) ? undefined : this.events.find(({ id }) => id === one);
      return found ? { status: 200, body: found } : { status: 404, body: { error: { message: `No such event: '${one}'` } } };
    }
    const within = ({ created }) => created >= number('created[gte]', 0) && created < number('created[lt]', Infinity);
    const all = this.events.filter(within).sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1));
    const after = asked.get('starting_after');
    const rest = after ? all.slice(all.findIndex(({ id }) => id === after) + 1) : all;
    const limit = number('limit', 10);
    return { status: 200, body: { object: 'list', url: '/v1/events', data: rest.slice(0, limit), has_more: rest.length > limit } };
  }
}

/** Syncs a source, and returns the report once it has ended. */
export async function synced(api, source, order = {}) {
  const { job } = await api.ask('POST', `/api/sync/${source}`, order);
  await eventually('the sync has ended', async () => !['waiting', 'running'].includes((await api.ask('GET', `/api/jobs/${job.id}`)).state));
  const { items } = await api.ask('GET', `/api/sync-reports?source=${source}`);
  return items.find((report) => report.job === job.id);
}
