/** Problems of a source's settings that are visible before saving. The engine has the last word. */

import { PLACES, type SourceFields } from './source-form';

/** What is wrong, by field. */
export type Problems = Partial<Record<keyof SourceFields, string>>;

/** Returns the problems of these settings. */
export function problemsOf(fields: SourceFields): Problems {
  const problems: Problems = {};
  const say = (name: keyof SourceFields, problem: string | null) => {
    if (problem !== null) problems[name] = problem;
  };
  say('tolerance_s', wholeNumber(fields.tolerance_s, 0, 4_294_967_295, 'seconds', true));
  say('status', wholeNumber(fields.status, 200, 599, '', true));
  say('delay_ms', wholeNumber(fields.delay_ms, 0, 60_000, 'ms'));
  say('fail_next', wholeNumber(fields.fail_next, 0, 4_294_967_295));
  say('headers', headersProblem(fields.headers));
  say('public_url', publicUrlProblem(fields.public_url.trim()));
  if (fields.signing === 'own') ownProblems(fields, say);
  return problems;
}

function headersProblem(text: string): string | null {
  const lines = text.split('\n');
  const wrong = lines.findIndex(
    (line) => line.trim() !== '' && !/^\s*[A-Za-z0-9!#$%&'*+.^_`|~-]+\s*:/.test(line),
  );
  return wrong < 0 ? null : `Line ${wrong + 1} isn’t a header. Write it like \`Retry-After: 120\`.`;
}

function publicUrlProblem(text: string): string | null {
  if (text === '') return null;
  const fits = /^https?:\/\/[^/?#\s]+[^?#\s]*$/i.test(text);
  return fits ? null : 'Write it like `https://hooks.example.com/stripe`, without a query.';
}

function ownProblems(
  fields: SourceFields,
  say: (name: keyof SourceFields, problem: string | null) => void,
): void {
  const header = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
  const signature = fields.signature_header.trim();
  if (signature === '' && fields.signature_at.trim() === '')
    say('signature_header', 'Name the header that carries the signature, such as `X-Signature`.');
  else if (signature !== '' && !header.test(signature))
    say('signature_header', 'Use letters, digits and hyphens, such as `X-Signature`.');
  for (const name of PLACES) say(name, placeProblem(fields[name].trim()));
}

function placeProblem(place: string): string | null {
  const fits = place === '' || place.startsWith('/') || /^(header|form|query):.+/.test(place);
  return fits ? null : 'Write a JSON pointer such as `/data/id`, or `header:Name`.';
}

function wholeNumber(
  text: string,
  least: number,
  most: number,
  unit = '',
  mayBeEmpty = false,
): string | null {
  const given = text.trim();
  if (given === '' && mayBeEmpty) return null;
  const number = /^\d+$/.test(given) ? Number(given) : NaN;
  if (number >= least && number <= most) return null;
  const range =
    most > 1_000_000
      ? 'Write a whole number'
      : `Write a number from ${least} to ${most.toLocaleString('en')}`;
  return `${range}${unit === '' ? '' : `, in ${unit}`}.`;
}
