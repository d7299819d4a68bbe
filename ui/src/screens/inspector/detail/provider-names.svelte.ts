import { fetchRaw } from '../../../api/client';

let names: Record<string, string> = $state.raw({});
let asked = false;

/** Returns a provider's display name; its capitalised id until the catalogue is loaded, or if it has no such id. */
export function providerName(id: string): string {
  if (!asked) {
    asked = true;
    void read();
  }
  return names[id] ?? id.charAt(0).toUpperCase() + id.slice(1);
}

async function read(): Promise<void> {
  try {
    const answer = (await (await fetchRaw('/api/providers')).json()) as {
      items: { id: string; name: string }[];
    };
    names = Object.fromEntries(answer.items.map(({ id, name }) => [id, name]));
  } catch {
    asked = false; // the next call tries again
  }
}
