// Fills a running hookmitt with a day's events: node tests/ui/seed.mjs --api URL --capture URL --token-file FILE
// (HOOKMITT_TOKEN works too). The inbox should be empty. With --stay, its two local servers run until Ctrl-C.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { Api } from './support/api.mjs';
import { seed } from './support/inbox.mjs';

const { values } = parseArgs({
  options: {
    api: { type: 'string', default: 'http://127.0.0.1:4401' },
    capture: { type: 'string', default: 'http://127.0.0.1:4400' },
    'token-file': { type: 'string' },
    stay: { type: 'boolean', default: false },
  },
});
const file = values['token-file'];
const token = file ? readFileSync(file, 'utf8').trim() : process.env.HOOKMITT_TOKEN;
if (!token) throw new Error('give --token-file <data-dir>/token, or HOOKMITT_TOKEN');

const { servers, ...ids } = await seed(new Api(values.api, token), values.capture);
console.log(JSON.stringify({ ...ids, servers: servers.map((server) => server.url) }));
if (!values.stay) process.exit(0);
