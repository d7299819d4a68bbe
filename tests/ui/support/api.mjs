// The management API, called as programs call it: with the token.
import { send } from './http.mjs';

const isJson = (answer) => /^application\/(problem\+)?json/.test(answer.headers['content-type'] ?? '');

/** A client for one API. */
export class Api {
  #base;
  #token;

  constructor(base, token) {
    this.#base = base;
    this.#token = token;
  }

  /** Calls the API; returns the status and the JSON, or null if the answer is not JSON. */
  async call(method, path, body) {
    const headers = [['Authorization', `Bearer ${this.#token}`], ['Content-Type', 'application/json']];
    const answer = await send(method, this.#base + path, { headers, body: body === undefined ? '' : JSON.stringify(body) });
    const text = answer.body.toString();
    return { status: answer.status, headers: answer.headers, json: isJson(answer) ? JSON.parse(text) : null, body: answer.body };
  }

  /** Like `call`, but fails unless the status is 2xx; returns only the JSON. */
  async ask(method, path, body) {
    const { status, json } = await this.call(method, path, body);
    if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(json)}`);
    return json;
  }

  /** Adds a source. */
  source(slug, settings = {}) {
    return this.ask('POST', '/api/sources', { slug, ...settings });
  }

  /** Adds a secret to a source; creates the source if it is new. */
  secret(source, value, label = 'default') {
    const body = { value_base64: Buffer.from(value).toString('base64'), create: true };
    return this.ask('PUT', `/api/sources/${source}/secrets/${encodeURIComponent(label)}`, body);
  }

  /** Adds a target; creates its source if it is new. */
  target(source, url, settings = {}) {
    return this.ask('POST', '/api/targets', { source, url, create: true, ...settings });
  }

  /** Returns the newest events, at most a thousand. */
  async events(query = '') {
    return (await this.ask('GET', `/api/events?limit=1000${query && `&${query}`}`)).items;
  }

  /** Returns one event with its deliveries. */
  event(id) {
    return this.ask('GET', `/api/events/${encodeURIComponent(id)}`);
  }

  /** Returns the exact bytes of an event's body. */
  async body(id) {
    return (await this.call('GET', `/api/events/${encodeURIComponent(id)}/body`)).body;
  }

  /** Imports fixtures; with `forward`, they are delivered too. */
  import(fixtures, { forward = false } = {}) {
    const items = fixtures.map((fixture, at) => ({
      name: `${at}.fixture.json`,
      content_base64: Buffer.from(JSON.stringify(fixture)).toString('base64'),
    }));
    return this.ask('POST', '/api/import', { items, forward });
  }
}
