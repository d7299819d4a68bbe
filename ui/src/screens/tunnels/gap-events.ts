import type { Gap } from '../../api/shapes';
import type { Token } from '../../search/tokens';

/** What the list is asked for to show the events that came during a gap. */
export function eventsOf(gap: Gap): Token[] {
  const from = Math.floor(Date.parse(gap.from) / 1000) * 1000;
  const until = gap.until === null ? null : Math.ceil(Date.parse(gap.until) / 1000) * 1000;
  const tokens = [token('after', from)];
  return until === null ? tokens : [...tokens, token('before', until)];
}

function token(name: 'after' | 'before', at: number): Token {
  return { name, value: local(at), start: 0, end: 0 };
}

/** A moment as it reads on this computer's clock. */
function local(at: number): string {
  const date = new Date(at);
  const two = (n: number) => String(n).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day}T${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}
