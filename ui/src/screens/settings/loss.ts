/** Says what is removed with a source, and what stays. */
export function lossOf(secrets: number, targets: number, events: number | null): string {
  return [lost(secrets, targets), targets > 0 ? 'What waits for a target fails.' : '', stays(events)]
    .filter(Boolean)
    .join(' ');
}

function lost(secrets: number, targets: number): string {
  if (secrets + targets === 0) return 'It has no secrets and no targets.';
  const both = secrets > 0 && targets > 0;
  const parts = [counted(secrets, 'secret', both), counted(targets, 'target', both)].filter(Boolean);
  const go = secrets + targets > 1 ? 'go' : 'goes';
  return `Its ${parts.join(' and ')} ${go} with it and can’t be restored.`;
}

function stays(events: number | null): string {
  if (events === null || events === 0) return 'A request to its address creates a new one.';
  return events === 1
    ? 'Its event stays in the inbox.'
    : `Its ${events.toLocaleString('en')} events stay in the inbox.`;
}

function counted(count: number, name: string, always: boolean): string {
  if (count === 0) return '';
  if (count === 1) return always ? `1 ${name}` : name;
  return `${count} ${name}s`;
}
