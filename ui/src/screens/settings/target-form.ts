/** A target's settings as a form. */

import { readTarget } from '../../setup/target-url';
import type { TargetChange, TargetView } from '../../setup/types';

/** The names of the order modes; `parallel` also has a width. */
export type Order = 'sequential' | 'fifo' | 'fifo-by-key' | 'parallel';

/** The settings as the fields hold them. */
export interface TargetFields {
  url: string;
  order: Order;
  width: string;
  timeout_s: string;
  attempts: string;
  preserve_host: boolean;
  hookmitt_headers: boolean;
}

/** What is wrong, by field. */
export type TargetProblems = Partial<Record<keyof TargetFields, string>>;

/** Every order mode, with an explanation. */
export const ORDERS: { value: Order; label: string; says: string }[] = [
  {
    value: 'sequential',
    label: 'Sequential',
    says: 'One at a time, in order of arrival. A failing event steps aside until its retry.',
  },
  {
    value: 'fifo',
    label: 'Strict (fifo)',
    says: 'One at a time, strictly in order. A failing event holds up those behind it.',
  },
  {
    value: 'fifo-by-key',
    label: 'Strict by object',
    says: 'Strictly in order for each object; different objects in parallel.',
  },
  { value: 'parallel', label: 'Parallel', says: 'Several at a time, in no particular order.' },
];

/** The settings of a new target. */
export const FRESH: TargetFields = {
  url: '',
  order: 'sequential',
  width: '4',
  timeout_s: '30',
  attempts: '5',
  preserve_host: false,
  hookmitt_headers: true,
};

/** Returns the fields for a target's saved settings. */
export function fieldsOf(target: TargetView): TargetFields {
  const [order, width] = target.order.split(':');
  return {
    url: target.url,
    order: (order ?? 'sequential') as Order,
    width: width ?? FRESH.width,
    timeout_s: String(target.timeout_ms / 1000),
    attempts: String(target.attempts),
    preserve_host: target.preserve_host,
    hookmitt_headers: target.hookmitt_headers,
  };
}

/** Returns the settings for the API. */
export function changeOf(fields: TargetFields): TargetChange {
  const read = readTarget(fields.url);
  return {
    url: read.ok ? read.url : fields.url,
    order: fields.order === 'parallel' ? `parallel:${Number(fields.width)}` : fields.order,
    timeout_ms: Math.round(Number(fields.timeout_s) * 1000),
    attempts: Number(fields.attempts),
    preserve_host: fields.preserve_host,
    hookmitt_headers: fields.hookmitt_headers,
  };
}

/** Returns the problems that are visible before saving. */
export function problemsOf(fields: TargetFields): TargetProblems {
  const problems: TargetProblems = {};
  const read = readTarget(fields.url);
  if (!read.ok) problems.url = read.problem;
  const seconds = /^\d+([.]\d+)?$/.test(fields.timeout_s.trim()) ? Number(fields.timeout_s) : NaN;
  if (!(seconds >= 0.001 && seconds <= 600)) problems.timeout_s = 'From 0.001 to 600 seconds.';
  if (!isBetween(fields.attempts, 1, 100)) problems.attempts = 'From 1 to 100.';
  if (fields.order === 'parallel' && !isBetween(fields.width, 1, 256)) problems.width = 'From 1 to 256.';
  return problems;
}

/** Returns an order mode in words. */
export function orderInWords(order: string): string {
  const [name, width] = order.split(':');
  const label = ORDERS.find((known) => known.value === name)?.label ?? order;
  return width === undefined ? label : `${label}, ${width} at a time`;
}

function isBetween(text: string, least: number, most: number): boolean {
  return /^\d+$/.test(text.trim()) && Number(text) >= least && Number(text) <= most;
}
