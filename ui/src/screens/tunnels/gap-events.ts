import type { Gap } from '../../api/shapes';
import type { Token } from '../../search/tokens';

/** Returns the search that shows the events received during a gap, rounded to whole seconds. */
export function eventsOf(gap: Pick<Gap, 'from' | 'until'>): Token[] {
  const from = Math.floor(Date.parse(gap.from) / 1000) * 1000;
  const until = gap.until === null ? null : Math.ceil(Date.parse(gap.until) / 1000) * 1000;
  const tokens = [token('after', from)];
  return until === null ? tokens : [...tokens, token('before', until)];
}

function token(name: 'after' | 'before', at: number): Token {
  return { name, value: local(at), start: 0, end: 0 };
}

/** Formats a moment in local time. */
function local(at: number): string {
  const date = new Date(at);
  const two = (n: number) => String(n).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day}T${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}
