/** A source's settings as a form: texts that are edited, told apart from what the API holds. */

import type { Answer, GenericScheme, SourceChange, SourceView } from '../../setup/types';

/** The settings as fields hold them. */
export interface SourceFields {
  /** A provider's id; empty: recognised from the headers. */
  provider: string;
  signing: 'provider' | 'own';
  signature_header: string;
  algorithm: string;
  encoding: string;
  prefix: string;
  signed_content: string;
  timestamp_header: string;
  id_at: string;
  type_at: string;
  time_at: string;
  object_at: string;
  public_url: string;
  tolerance_s: string;
  on_invalid: SourceView['on_invalid'];
  on_duplicate: SourceView['on_duplicate'];
  status: string;
  headers: string;
  body: string;
  delay_ms: string;
  fail_next: string;
}

/** What is being typed: the fields that differ from what is kept, so that those that don't can follow it. */
export type Edits = Partial<SourceFields>;

/** The settings that say where an event's facts are. */
export const PLACES = ['id_at', 'type_at', 'time_at', 'object_at'] as const;
const OWN = [
  'signature_header',
  'algorithm',
  'encoding',
  'prefix',
  'signed_content',
  'timestamp_header',
  ...PLACES,
] as const;

/** The fields of a source as it is kept. */
export function fieldsOf(source: SourceView): SourceFields {
  const { answer, generic } = source;
  const own = Object.fromEntries(OWN.map((name) => [name, generic?.[name] ?? ''])) as Record<
    (typeof OWN)[number],
    string
  >;
  return {
    ...own,
    algorithm: own.algorithm || 'hmac-sha256',
    encoding: own.encoding || 'hex',
    provider: source.provider ?? '',
    signing: generic == null ? 'provider' : 'own',
    public_url: source.public_url ?? '',
    tolerance_s: source.tolerance_s?.toString() ?? '',
    on_invalid: source.on_invalid,
    on_duplicate: source.on_duplicate,
    status: answer.status?.toString() ?? '',
    headers: (answer.headers ?? []).map(([name, value]) => `${name}: ${value}`).join('\n'),
    body: answer.body ?? '',
    delay_ms: answer.delay_ms?.toString() ?? '0',
    fail_next: answer.fail_next?.toString() ?? '0',
  };
}

/** The edits without those that say what is kept anyway. */
export function realEdits(kept: SourceFields, edits: Edits): Edits {
  const differs = ([name, value]: [string, unknown]) => kept[name as keyof SourceFields] !== value;
  return Object.fromEntries(Object.entries(edits).filter(differs));
}

/** The change that makes the edits so: nothing else is sent, so nothing else is overwritten. */
export function changeOf(source: SourceView, edits: Edits): SourceChange {
  const kept = fieldsOf(source);
  const real = realEdits(kept, edits);
  const fields = { ...kept, ...real };
  const has = (...names: (keyof SourceFields)[]) => names.some((name) => name in real);
  const change: SourceChange = {};
  if (has('provider')) change.provider = fields.provider || null;
  if (has('public_url')) change.public_url = fields.public_url.trim() || null;
  if (has('tolerance_s'))
    change.tolerance_s = fields.tolerance_s.trim() === '' ? null : Number(fields.tolerance_s);
  if (has('on_invalid')) change.on_invalid = fields.on_invalid;
  if (has('on_duplicate')) change.on_duplicate = fields.on_duplicate;
  if (has('status', 'headers', 'body', 'delay_ms', 'fail_next')) change.answer = answerOf(fields);
  if (has('signing', ...OWN)) change.generic = fields.signing === 'own' ? genericOf(fields) : null;
  return change;
}

/** A sentence that says what saving will do. */
export function savingSays(change: SourceChange, slug: string): string {
  const parts: string[] = [];
  const judges = ['provider', 'generic', 'tolerance_s', 'public_url'].some((name) => name in change);
  if (judges) parts.push(`the events of ${slug} are verified again`);
  if ('answer' in change) parts.push('the next request gets the new answer');
  if ('on_invalid' in change || 'on_duplicate' in change) parts.push('new events follow the new rules');
  const all = parts.join('; ');
  return all === '' ? '' : `${all.charAt(0).toUpperCase()}${all.slice(1)}.`;
}

function answerOf(fields: SourceFields): Answer {
  return {
    status: fields.status.trim() === '' ? null : Number(fields.status),
    headers: headerLines(fields.headers),
    body: fields.body === '' ? null : fields.body,
    delay_ms: Number(fields.delay_ms),
    fail_next: Number(fields.fail_next),
  };
}

function genericOf(fields: SourceFields): GenericScheme {
  return Object.fromEntries(OWN.map((name) => [name, fields[name].trim() || null])) as GenericScheme;
}

function headerLines(text: string): [string, string][] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
}
