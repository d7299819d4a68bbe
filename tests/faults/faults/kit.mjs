// What the tables of faults are written with.
//
// A fault is {name, group, run(row, lab)}; run gives what the handler saw and what the inspector knows, as far as that
// differs from a right delivery, and the codes of which one has to come first. null: it does not apply.

export const isForm = (row) => row.type.includes('urlencoded');
export const isJson = (row) => !isForm(row);
export const lower = (name) => name.toLowerCase();

/// The request with another body; its length is right again unless `keepLength`, as for a handler behind a parser.
export function withBody(request, body, keepLength = false) {
  const length = ([name, value]) => [name, !keepLength && lower(name) === 'content-length' ? `${body.length}` : value];
  return { ...request, headers: request.headers.map(length), body };
}

export const without = (request, ...names) => ({
  ...request,
  headers: request.headers.filter(([name]) => !names.some((other) => lower(other) === lower(name))),
});

export const withHeader = (request, header, change) => ({
  ...request,
  headers: request.headers.map(([name, value]) =>
    lower(name) === lower(header) ? change(name, value) : [name, value],
  ),
});

/// A fault of the body. `order` is what the sender is asked for, `change` what the software makes of the body.
export function bodyFault(
  group,
  name,
  expect,
  change,
  { applies = () => true, order = {}, keepLength = false, values = 'valid' } = {},
) {
  return {
    name,
    group,
    async run(row, lab) {
      if (!applies(row) || (row.covers !== 'body' && values === null)) return null;
      const signed = await lab.signed(row, typeof order === 'function' ? order(row, lab) : order);
      const body = await change(signed.body, lab, signed, row);
      if (body === null || body.equals(signed.body)) return null;
      const codes = row.eitherEscape && group === 'json' ? [...expect, 'valid'] : expect;
      return { request: withBody(signed, body, keepLength), expect: row.covers === 'body' ? codes : [values].flat() };
    },
  };
}

/// A fault of anything else: `run` without the name and the group.
export const fault = (group, name, run) => ({ name, group, run });
