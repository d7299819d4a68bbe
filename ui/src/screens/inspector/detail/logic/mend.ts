import type { Verdict } from '../../../../api/shapes';

/** What mends an event that could not be verified. */
export type Mend =
  { do: 'secret'; label: string } | { do: 'settings'; label: string } | { do: 'fix'; label: string };

const SECRET: Mend = { do: 'secret', label: 'Add a secret' };

/** What mends each cause, apart from those that code at the receiver's end mends. */
const BY_CAUSE: Record<string, Mend> = {
  no_match: SECRET,
  other_secret: SECRET,
  public_secret: SECRET,
  secret_whitespace: SECRET,
  secret_encoding: SECRET,
  other_provider: { do: 'settings', label: 'Choose the provider' },
  timestamp_old: { do: 'settings', label: 'Allow a longer tolerance' },
  timestamp_future: { do: 'settings', label: 'Allow a longer tolerance' },
  url_mismatch: { do: 'settings', label: 'Set the public URL' },
  wrong_configuration: { do: 'settings', label: 'Change the settings' },
};

/**
 * Returns what mends an event; null if nothing here does. `cause` is the code of its first cause; `hasFix` says
 * whether there is code to show that mends it.
 */
export function mendOf(verdict: Verdict, cause: string | undefined, hasFix: boolean): Mend | null {
  if (verdict === 'no_secret') return SECRET;
  if (verdict !== 'invalid' || cause === undefined) return null;
  return BY_CAUSE[cause] ?? (hasFix ? { do: 'fix', label: 'Show the fix' } : null);
}
