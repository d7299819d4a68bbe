// How senders serialise their bodies, each with the library that does it that way.
import qs from 'qs';

const json = (indent) => async (value) => Buffer.from(JSON.stringify(value, null, indent));

export const writersWith = (python, php) => {
  const by = (program, op) => async (value) => program.ask(op, JSON.stringify(value));
  return {
    compact: json(),
    pretty2: json(2),
    python: by(python, 'write python'),
    ascii: by(python, 'write ascii'),
    go: by(python, 'write go'),
    php: by(php, 'json_encode'),
    // SendGrid's: an array with one item per line, and CRLF line ends.
    batch: async (items) => Buffer.from(`[${items.map((item) => JSON.stringify(item)).join(',\r\n')}]\r\n`),
    form: async (value) => Buffer.from(qs.stringify(flat(value), { format: 'RFC1738' })),
    // GitHub's: the event as JSON in one field.
    payload: async (value) => Buffer.from(qs.stringify({ payload: JSON.stringify(value) }, { format: 'RFC1738' })),
  };
};

// A form has no nested values: Slack's commands are flat, so these are too.
function flat(value) {
  const { data, ...rest } = value;
  if (!data) return rest;
  return {
    token: 'x',
    command: '/do it',
    text: `a b, ${data.name}`,
    response_url: 'https://hooks.example.com/c?d=e',
    user: rest.id,
    ...(data.padding ? { padding: data.padding } : {}),
  };
}
