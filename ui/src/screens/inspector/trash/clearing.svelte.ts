/** Which events somebody wants to clear; a source's, or all. */
class Clearing {
  asked = $state.raw<{ source: string | null } | null>(null);

  /** Opens the dialog for a source's events; for those of all sources, if `source` is null. */
  ask(source: string | null): void {
    this.asked = { source };
  }
}

export const clearing = new Clearing();

/** How old events have to be; an empty value stands for all. */
export const AGES = [
  { value: '', label: 'All events' },
  { value: '1d', label: 'Older than a day' },
  { value: '7d', label: 'Older than 7 days' },
  { value: '30d', label: 'Older than 30 days' },
  { value: '90d', label: 'Older than 90 days' },
] as const;

export type Age = (typeof AGES)[number]['value'];
