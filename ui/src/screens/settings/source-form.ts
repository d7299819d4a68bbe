/** A source's settings as a form: editable texts, separate from the values of the API. */

import type { GenericScheme, SourceChange, SourceView } from '../../setup/types';

/** The settings as the fields hold them. */
export interface SourceFields {
  /** A provider's id; empty if the provider is recognised from the headers. */
  provider: string;
  signing: 'provider' | 'own';
  signature_header: string;
  signature_at: string;
  format: string;
  version: string;
  separator: string;
  key: string;
  timestamp_at: string;
  timestamp_unit: string;
  title_at: string;
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
  /** Host names, sorted and separated by spaces. */
  allowed_hosts: string;
  /** The params by name, as JSON: values that verification needs and that no request contains. */
  params: string;
  tolerance_s: string;
  on_invalid: SourceView['on_invalid'];
  on_duplicate: SourceView['on_duplicate'];
  /** Whether a genuine set-up request is confirmed without a click. */
  confirm: 'click' | 'itself';
  /** Who answers the sender; `auto` leaves that to hookmitt. */
  respond: 'stored' | 'app' | 'auto';
  status: string;
  headers: string;
  body: string;
  delay_ms: string;
  fail_next: string;
}

/** The fields that differ from the saved settings. Other fields follow the saved settings when those change. */
export type Edits = Partial<SourceFields>;

/** The settings that say where an event contains its facts. */
export const PLACES = ['id_at', 'type_at', 'time_at', 'object_at', 'title_at'] as const;
export const OWN = [
  'signature_header',
  'signature_at',
  'format',
  'version',
  'separator',
  'key',
  'algorithm',
  'encoding',
  'prefix',
  'signed_content',
  'timestamp_header',
  'timestamp_at',
  'timestamp_unit',
  ...PLACES,
] as const;

const ANSWER = ['respond', 'status', 'headers', 'body', 'delay_ms', 'fail_next'] as const;

/** Returns the fields for a source's saved settings. */
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
    format: own.format || 'plain',
    key: own.key || 'utf8',
    timestamp_unit: own.timestamp_unit || 's',
    provider: source.provider ?? '',
    signing: generic == null ? 'provider' : 'own',
    public_url: source.public_url_set ? (source.public_url ?? '') : '',
    allowed_hosts: [...source.allowed_hosts].sort().join(' '),
    params: paramsText(source.params),
    tolerance_s: source.tolerance_s?.toString() ?? '',
    on_invalid: source.on_invalid,
    on_duplicate: source.on_duplicate,
    confirm: source.confirm ? 'itself' : 'click',
    respond: answer.respond ?? 'auto',
    status: answer.status?.toString() ?? '',
    headers: (answer.headers ?? []).map(([name, value]) => `${name}: ${value}`).join('\n'),
    body: answer.body ?? '',
    delay_ms: answer.delay_ms?.toString() ?? '0',
    fail_next: answer.fail_next?.toString() ?? '0',
  };
}

/** Returns the edits without those that equal the saved settings. */
export function realEdits(kept: SourceFields, edits: Edits): Edits {
  const differs = ([name, value]: [string, unknown]) => kept[name as keyof SourceFields] !== value;
  return Object.fromEntries(Object.entries(edits).filter(differs));
}

/** Returns the change for the edits. It contains nothing else, so that nothing else is overwritten. */
export function changeOf(source: SourceView, edits: Edits): SourceChange {
  const kept = fieldsOf(source);
  const real = realEdits(kept, edits);
  const fields = { ...kept, ...real };
  const has = (...names: (keyof SourceFields)[]) => names.some((name) => name in real);
  const change: SourceChange = {};
  if (has('provider')) change.provider = fields.provider || null;
  if (has('public_url')) change.public_url = fields.public_url.trim() || null;
  if (has('allowed_hosts'))
    change.allowed_hosts = hostsChange(source.allowed_hosts, real.allowed_hosts ?? '');
  if (has('tolerance_s'))
    change.tolerance_s = fields.tolerance_s.trim() === '' ? null : Number(fields.tolerance_s);
  if (has('params')) change.params = paramsChange(source.params, paramsOf(fields));
  if (has('on_invalid')) change.on_invalid = fields.on_invalid;
  if (has('on_duplicate')) change.on_duplicate = fields.on_duplicate;
  if (has('confirm')) change.confirm = fields.confirm === 'itself';
  if (has(...ANSWER)) change.answer = answerOf(real);
  if (has('signing', ...OWN)) change.generic = fields.signing === 'own' ? genericOf(fields) : null;
  return change;
}

/** Returns a sentence that says what saving will do. */
export function savingSays(change: SourceChange, slug: string): string {
  const parts: string[] = [];
  const judges = ['provider', 'generic', 'tolerance_s', 'public_url', 'params'].some(
    (name) => name in change,
  );
  if (judges) parts.push(`the events of ${slug} are verified again`);
  if ('answer' in change) parts.push('the next request gets the new answer');
  if (['on_invalid', 'on_duplicate', 'confirm', 'allowed_hosts'].some((name) => name in change))
    parts.push('new events follow the new rules');
  const all = parts.join('; ');
  return all === '' ? '' : `${all.charAt(0).toUpperCase()}${all.slice(1)}.`;
}

/** Returns the edited parts of the answer. The others are left out, because they may have changed elsewhere. */
function answerOf(edits: Edits): NonNullable<SourceChange['answer']> {
  const change: NonNullable<SourceChange['answer']> = {};
  if (edits.respond !== undefined) change.respond = edits.respond === 'auto' ? null : edits.respond;
  if (edits.status !== undefined) change.status = edits.status.trim() === '' ? null : Number(edits.status);
  if (edits.headers !== undefined) change.headers = headerLines(edits.headers);
  if (edits.body !== undefined) change.body = edits.body === '' ? null : edits.body;
  if (edits.delay_ms !== undefined) change.delay_ms = Number(edits.delay_ms);
  if (edits.fail_next !== undefined) change.fail_next = Number(edits.fail_next);
  return change;
}

/** Returns a form's params by name. */
export function paramsOf({ params }: Pick<SourceFields, 'params'>): Record<string, string> {
  return JSON.parse(params) as Record<string, string>;
}

/** Returns params as the field holds them: sorted, without empty values. */
export function paramsText(params: Readonly<Record<string, string>> | null | undefined): string {
  const entries = Object.entries(params ?? {}).filter(([, value]) => value !== '');
  return JSON.stringify(Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1))));
}

/** Returns which host names to allow, and which to disallow. */
function hostsChange(kept: readonly string[], text: string): Record<string, boolean> {
  const wanted = text.split(/[\s,]+/).filter((name) => name !== '');
  const gone = kept.filter((name) => !wanted.includes(name)).map((name) => [name, false] as const);
  return Object.fromEntries([...gone, ...wanted.map((name) => [name, true] as const)]);
}

function paramsChange(
  kept: Readonly<Record<string, string>>,
  wanted: Record<string, string>,
): Record<string, string | null> {
  const names = [...new Set([...Object.keys(kept), ...Object.keys(wanted)])];
  const changed = names.filter((name) => kept[name] !== wanted[name]);
  return Object.fromEntries(changed.map((name) => [name, wanted[name]?.trim() || null]));
}

/** The defaults of an own scheme; a setting with its default value is not sent. */
export const LEFT_OUT: Partial<Record<(typeof OWN)[number], string>> = {
  format: 'plain',
  key: 'utf8',
  timestamp_unit: 's',
};

function genericOf(fields: SourceFields): GenericScheme {
  const said = (name: (typeof OWN)[number]) => {
    const text = fields[name].trim();
    return text === '' || text === LEFT_OUT[name] ? null : text;
  };
  return Object.fromEntries(OWN.map((name) => [name, said(name)])) as GenericScheme;
}

function headerLines(text: string): [string, string][] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
}
