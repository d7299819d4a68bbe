import type { Gap } from '../../api/shapes';
import { joined, term } from '../../search/quote';

/** Returns the search that shows the events received during a gap, rounded to whole seconds. */
export function eventsOf(gap: Pick<Gap, 'from' | 'until'>): string {
  const after = term('after', moment(Math.floor(Date.parse(gap.from) / 1000)));
  if (gap.until === null) return after;
  return joined(after, term('before', moment(Math.ceil(Date.parse(gap.until) / 1000))));
}

/** Formats a moment, given in seconds, in local time with the offset to UTC. */
function moment(seconds: number): string {
  const date = new Date(seconds * 1000);
  const two = (n: number) => String(n).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  const offset = -date.getTimezoneOffset();
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map(two);
  return `${day}T${time}${offset === 0 ? 'Z' : `${offset < 0 ? '-' : '+'}${hours}:${minutes}`}`;
}
