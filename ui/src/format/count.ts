const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });

/** Formats a number with thousands separators: `4,812`. */
export function count(n: number): string {
  return whole.format(n);
}

/** Formats a number with its noun: `1 event`, `4,812 events`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

const rate = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 });

/** Formats a fraction of 1 as a percentage: `97.4 %`. */
export function percent(share: number): string {
  return `${rate.format(share * 100)} %`;
}

/** Formats a number of which it may be known only that it is at least so large: `4,812`, `1,000+`. */
export function countFound({ count: n, exact }: { count: number; exact: boolean }): string {
  return exact ? count(n) : `${count(n)}+`;
}
