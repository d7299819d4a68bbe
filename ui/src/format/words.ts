import type { Verdict } from '../api/shapes';

const verdicts: Record<Verdict, [word: string, said: string]> = {
  valid: ['Valid', 'Valid signature'],
  invalid: ['Invalid', 'Invalid signature'],
  unsigned: ['Unsigned', 'Unsigned: no signature'],
  no_secret: ['No secret', 'Not checked: no secret'],
  unsupported: ['Unsupported', 'Not checked: unsupported'],
  pending: ['Checking', 'Checking the signature'],
};

/** What is said instead of a verdict of what backup sync fetched. */
export const FROM_API = 'From the API';

/** Returns a verdict in one word. */
export function verdictWord(verdict: Verdict): string {
  return verdicts[verdict][0];
}

/** Returns a verdict as a screen reader says it: “Invalid signature: body re-serialised”. */
export function saidVerdict(verdict: Verdict, cause?: string): string {
  const said = verdicts[verdict][1];
  return cause ? `${said}: ${cause}` : said;
}

/** Providers whose event types are an event and an action, which people say as two words. */
const TWO_WORDS = new Set(['github', 'gitea']);

/** Returns an event's name: its type, or its request line if it has no type. */
export function eventName(event: {
  type?: string | null;
  provider?: string | null;
  method: string;
  source: string;
  path: string;
}): string {
  if (event.type && TWO_WORDS.has(event.provider ?? '')) return event.type.replace('.', ' ');
  return event.type ?? `${event.method} /${event.source}${event.path}`;
}

/** Returns the host and port of a URL, or the text itself if it is no URL. */
export function host(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

/** Returns a URL without its scheme and without a slash at its end. */
export function place(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\/$/, '');
}

const isMac = typeof navigator !== 'undefined' && /Mac/.test(navigator.platform);

const caps: Record<string, string> = {
  ' ': 'Space',
  space: 'Space',
  delete: 'Del',
  escape: 'Esc',
  arrowup: '↑',
  arrowdown: '↓',
  arrowleft: '←',
  arrowright: '→',
  mod: isMac ? '⌘' : 'Ctrl',
  control: isMac ? '⌃' : 'Ctrl',
  shift: isMac ? '⇧' : 'Shift',
  alt: isMac ? '⌥' : 'Alt',
};

/** Returns the name of a key or key combination on this platform: `r` is `R`, `Mod+z` is `Ctrl Z`. */
export function capOf(key: string): string {
  if (key === '+') return key;
  const names = key.split('+').map((part) => {
    const known = caps[part.toLowerCase()];
    return known ?? (part.length === 1 ? part.toUpperCase() : part);
  });
  return names.join(isMac ? '' : ' ');
}

/** Returns a text with a capital at its beginning. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Shortens a hash in the middle: `d9656efe3e3c…4226585b`. */
export function shortHash(hash: string): string {
  return hash.length > 24 ? `${hash.slice(0, 12)}…${hash.slice(-8)}` : hash;
}

// C0 and C1 controls, bidi controls, zero-width characters, line separators, the byte-order mark.
const hidden = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Makes invisible and direction-changing characters in strangers' text visible: `⟨U+202E⟩`. */
export function visible(text: string): string {
  return text.replace(hidden, (mark) => {
    const code = mark.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

/** Turns the API's words into a sentence with curly apostrophes. A URL or host at its start is not capitalised. */
export function sentence(text: string): string {
  const trimmed = text.trim().replace(/(?<=[a-z])'(?=[a-z])/g, '’');
  const isAddress = /^[a-z]+:\/\/|^\S+\.\S/.test(trimmed);
  const whole = isAddress ? trimmed : trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.?!:]$/.test(whole) ? whole : `${whole}.`;
}
