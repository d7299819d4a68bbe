import { jsonValues, sameValue } from './json-values';

/** A value that differs between two bodies; `null` if a body doesn't have it. */
export interface ChangedValue {
  pointer: string;
  first: string | null;
  other: string | null;
}

/** How a body differs from the first one. */
export type Difference =
  | { kind: 'identical' }
  | { kind: 'values'; values: ChangedValue[] }
  /** The same values, formatted differently. */
  | { kind: 'written' }
  /** At least one body is not JSON; `at` is the first byte that differs. */
  | { kind: 'bytes'; at: number }
  /** Too large to compare here. */
  | { kind: 'large' };

/** The largest body in bytes that the page compares. */
export const LARGEST_COMPARED = 1024 * 1024;

/** Says how two bodies differ. */
export function compareBodies(first: Uint8Array, other: Uint8Array): Difference {
  const at = firstDifference(first, other);
  if (at === null) return { kind: 'identical' };
  const before = valuesOf(first);
  const after = before && valuesOf(other);
  if (!before || !after) return { kind: 'bytes', at };
  const values = changedValues(before, after);
  return values.length === 0 ? { kind: 'written' } : { kind: 'values', values };
}

function valuesOf(body: Uint8Array): Map<string, string> | null {
  try {
    return jsonValues(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return null; // not UTF-8, so not JSON
  }
}

function changedValues(before: Map<string, string>, after: Map<string, string>): ChangedValue[] {
  const changed: ChangedValue[] = [];
  for (const [pointer, first] of before) {
    const other = after.get(pointer) ?? null;
    if (other === null || !sameValue(first, other)) changed.push({ pointer, first, other });
  }
  for (const [pointer, other] of after) {
    if (!before.has(pointer)) changed.push({ pointer, first: null, other });
  }
  return changed;
}

function firstDifference(first: Uint8Array, other: Uint8Array): number | null {
  const shorter = Math.min(first.length, other.length);
  for (let at = 0; at < shorter; at++) if (first[at] !== other[at]) return at;
  return first.length === other.length ? null : shorter;
}
