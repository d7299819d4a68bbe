// Bodies that were parsed and serialised again.
import { bodyFault, isForm, isJson } from './kit.mjs';

const RESERIALIZED = ['body_reserialized'];
// The order of the keys is lost; a verifier that can't restore it may report either code.
const SORTED = ['body_reserialized', 'no_match'];
const express = (app) => async (_body, lab, signed) => (await lab.express(app, signed)).body;
const flask = (op) => (body, lab) => lab.python(op, body);
const php = (op) => (body, lab) => lab.php(op, body);
const json = (name, change, expect = RESERIALIZED, more = {}) =>
  bodyFault('json', name, expect, change, { applies: isJson, ...more });
const form = (name, change, expect = ['form_changed']) => bodyFault('form', name, expect, change, { applies: isForm });

const prices = {
  order: (row, lab) => ({
    write: async (value, about) =>
      Buffer.from(
        (await lab.writers[row.style](value, about)).toString().replace(/"amount":( ?)1999/, '"amount":$110.00'),
      ),
  }),
};

export default [
  json('Express: JSON.stringify', express('JSON.stringify')),
  json('Express: JSON.stringify, 2', express('JSON.stringify 2')),
  json('Express: JSON.stringify, 4', express('JSON.stringify 4')),
  json('Express: JSON.stringify, tab', express('JSON.stringify tab')),
  json('Express: a price of 10.00', express('JSON.stringify'), RESERIALIZED, prices),
  json('Express: stringified twice', express('JSON.stringify twice'), RESERIALIZED, { values: null }),
  json('Express: stable-stringify', express('stable-stringify'), SORTED),
  json('Flask: json.dumps', flask('flask json.dumps')),
  json('Flask: json.dumps, utf-8', flask('flask json.dumps utf-8')),
  json('Flask: json.dumps, compact', flask('flask json.dumps compact')),
  json('Flask: json.dumps, indent', flask('flask json.dumps indent')),
  json('Flask: json.dumps, sorted', flask('flask json.dumps sorted'), SORTED),
  json('Flask: jsonify', flask('flask jsonify'), SORTED),
  json('Jinja: tojson', flask('jinja tojson')),
  json('Django: JsonResponse', flask('django JsonResponse')),
  json('PHP: json_encode', php('json_encode')),
  json('PHP: json_encode, pretty', php('json_encode pretty')),
  json('PHP: json_encode, unescaped', php('json_encode unescaped')),
  json('PHP: json_encode, unescaped unicode', php('json_encode slashes')),
  json('PHP: json_encode, hex tags', php('json_encode hex')),

  form('Express: qs', express('qs')),
  form('Express: qs, RFC 1738', express('qs RFC1738')),
  form('Express: URLSearchParams', express('URLSearchParams')),
  form('Express: querystring', express('querystring')),
  form('Flask: urlencode', flask('flask form')),
  form('Python: urlencode with quote', flask('form quoted')),
  form('Django: QueryDict.urlencode', flask('django form')),
  form('PHP: http_build_query', php('http_build_query')),
  form('PHP: http_build_query, RFC 3986', php('http_build_query rfc3986')),
  ...[
    ['Express: the form as JSON', 'form as JSON'],
    ['Express: decodeURIComponent', 'decodeURIComponent'],
  ].map(([name, app]) => bodyFault('form', name, ['form_changed'], express(app), { applies: isForm, values: null })),
  ...[
    ['Express: the payload parsed', 'payload as JSON'],
    ['Express: the payload field', 'payload field'],
  ].map(([name, app]) =>
    bodyFault('form', name, ['form_changed'], express(app), { applies: (row) => row.style === 'payload' }),
  ),
];
