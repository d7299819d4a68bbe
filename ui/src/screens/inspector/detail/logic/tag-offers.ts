import type { Tag } from '../../../../api/marks';

/** How many tags are offered. */
const MOST = 8;

/** Returns the tags to offer for what is typed: those that begin with it, then those that contain it, the most used first. */
export function tagOffers(all: readonly Tag[], given: readonly string[], typed: string): Tag[] {
  const wanted = typed.trim().toLowerCase();
  const has = new Set(given.map((tag) => tag.toLowerCase()));
  const fits = all.filter(({ name }) => !has.has(name.toLowerCase()) && name.toLowerCase().includes(wanted));
  const begins = ({ name }: Tag) => Number(name.toLowerCase().startsWith(wanted));
  return fits.sort((a, b) => begins(b) - begins(a) || b.count - a.count).slice(0, MOST);
}
