/** An own signing scheme as text that can be shared. It never contains a secret. */

import { LEFT_OUT, OWN, type Edits, type SourceFields } from './source-form';

type Name = (typeof OWN)[number];

const NAMES = new Set<string>(OWN);

/** Returns a form's scheme as JSON; settings with their default value are left out. */
export function sharedScheme(fields: SourceFields): string {
  const set = OWN.filter((name) => fields[name].trim() !== '' && fields[name] !== LEFT_OUT[name]);
  const generic = Object.fromEntries(set.map((name) => [name, fields[name].trim()]));
  const tolerance = fields.tolerance_s.trim();
  return JSON.stringify(
    { hookmitt_scheme: 1, generic, ...(tolerance === '' ? {} : { tolerance_s: Number(tolerance) }) },
    null,
    2,
  );
}

/** Parses a pasted scheme, or says what is wrong with it. Settings that it lacks are reset, so no old one stays. */
export function readScheme(text: string): { edits: Edits } | { problem: string } {
  const whole = parsed(text);
  if (whole === null) return { problem: 'This isn’t a scheme: paste the JSON from “Copy scheme”.' };
  const generic = isObject(whole['generic']) ? whole['generic'] : whole;
  const unknown = Object.keys(generic).find((name) => !NAMES.has(name) && !WRAPPING.has(name));
  if (unknown !== undefined) return { problem: `A scheme has no setting “${unknown}”.` };
  if (![generic['signature_header'], generic['signature_at']].some((place) => typeof place === 'string'))
    return { problem: 'It doesn’t name the header that carries the signature (signature_header).' };
  const wrong = OWN.find((name) => !['string', 'undefined'].includes(typeof (generic[name] ?? undefined)));
  if (wrong !== undefined) return { problem: `“${wrong}” must be text.` };
  const texts = Object.fromEntries(OWN.map((name) => [name, generic[name] ?? USUAL[name] ?? ''])) as Record<
    Name,
    string
  >;
  const tolerance = whole['tolerance_s'];
  return {
    edits: {
      ...texts,
      signing: 'own',
      ...(typeof tolerance === 'number' ? { tolerance_s: String(tolerance) } : {}),
    },
  };
}

const WRAPPING = new Set(['hookmitt_scheme', 'tolerance_s']);
const USUAL: Partial<Record<Name, string>> = {
  algorithm: 'hmac-sha256',
  encoding: 'hex',
  format: 'plain',
  key: 'utf8',
  timestamp_unit: 's',
};

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
