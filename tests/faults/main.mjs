// Prints every request that the bench of faults judges, one line of JSON each; the last line has the counts.
import address from './signers/address.mjs';
import body from './signers/body.mjs';
import clock from './signers/clock.mjs';
import inside from './signers/inside.mjs';
import keys from './signers/keys.mjs';
import { NOW, sign } from './signers/recipe.mjs';
import bodies from './faults/bodies.mjs';
import bytes from './faults/bytes.mjs';
import headers from './faults/headers.mjs';
import right from './faults/right.mjs';
import sdks from './faults/sdks.mjs';
import secrets from './faults/secrets.mjs';
import signatures from './faults/signatures.mjs';
import times from './faults/times.mjs';
import urls from './faults/urls.mjs';
import { throughExpress } from './software/express.mjs';
import { peer } from './software/peer.mjs';
import { startProxies } from './software/proxies.mjs';
import { writersWith } from './software/writers.mjs';

const here = new URL('.', import.meta.url).pathname;
const python = peer('python3', [`${here}software/peer.py`], { PYTHONPATH: `${here}python_modules` });
const php = peer('php', [`${here}software/peer.php`]);
const proxies = await startProxies();
const writers = writersWith(python, php);

const lab = {
  writers,
  signed: (row, order = {}) => sign(row, order, writers),
  python: python.ask,
  php: php.ask,
  express: throughExpress,
  nginx: proxies.nginx,
  nodeProxy: proxies.nodeProxy,
};

const rows = [...body, ...clock, ...address, ...inside, ...keys];
const faults = [...right, ...bodies, ...bytes, ...urls, ...headers, ...secrets, ...signatures, ...times, ...sdks];

const onWire = ({ method, url, headers, body }) => ({ method, url, headers, body_base64: body.toString('base64') });

function line(row, fault, found) {
  const keyed = row.kind !== 'public';
  return {
    row: row.row,
    fault: fault.name,
    group: fault.group,
    provider: found.provider ?? row.provider,
    expect: found.expect,
    ...onWire(found.request),
    secrets: found.secrets ?? (keyed ? [row.secret] : []),
    public_key: keyed ? null : (found.publicKey ?? row.publicKey),
    params: row.params,
    others: (found.others ?? []).map(({ label, value, publicKey }) => ({
      label,
      value: value ?? null,
      public_key: publicKey ?? null,
    })),
    nearby: (found.nearby ?? []).map(onWire),
    now_unix: NOW,
  };
}

// Two faults with the same result count once: the same request and the same knowledge, apart from the faults' names.
const alike = ({ row, fault, group, expect, ...rest }) => JSON.stringify(rest);

const only = process.env.FAULTS_ROW;
let [count, without, repeated] = [0, 0, 0];
for (const row of rows.filter(({ row: name }) => !only || name === only)) {
  const seen = new Set();
  for (const fault of faults) {
    const found = await fault.run(row, lab).catch((error) => {
      throw new Error(`${row.row}, ${fault.name}: ${error.stack}`);
    });
    if (!found) {
      without += 1;
      continue;
    }
    const made = line(row, fault, found);
    if (seen.has(alike(made))) {
      repeated += 1;
      continue;
    }
    seen.add(alike(made));
    count += 1;
    process.stdout.write(`${JSON.stringify(made)}\n`);
  }
}
process.stdout.write(
  `${JSON.stringify({ rows: rows.length, faults: faults.length, requests: count, without_effect: without, repeated })}\n`,
);
python.end();
php.end();
await proxies.end();
