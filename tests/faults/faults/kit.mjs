// Helpers for the tables of faults.
//
// A fault is {name, group, run(row, lab)}. run returns what the handler saw and what the inspector knows, as far as
// that differs from a correct delivery, and the codes one of which must come first; null if the fault doesn't apply.

export const isForm = (row) => row.type.includes('urlencoded');
export const isJson = (row) => !isForm(row);
export const lower = (name) => name.toLowerCase();

/// Returns the request with another body. `keepLength` keeps the old length, as a handler behind a parser sees it.
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

/// Makes a fault of the body. `order` is what the sender is asked for, `change` what software does to the body.
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

/// Makes any other fault.
export const fault = (group, name, run) => ({ name, group, run });
