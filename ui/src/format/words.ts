import type { Verdict } from '../api/shapes';

const verdicts: Record<Verdict, [word: string, said: string]> = {
  valid: ['Valid', 'Valid signature'],
  invalid: ['Invalid', 'Invalid signature'],
  unsigned: ['Unsigned', 'Unsigned: no signature'],
  no_secret: ['No secret', 'Not checked: no secret'],
  unsupported: ['Unsupported', 'Not checked: unsupported'],
  pending: ['Checking', 'Checking the signature'],
};

/** A verdict in one word. */
export function verdictWord(verdict: Verdict): string {
  return verdicts[verdict][0];
}

/** A verdict for a screen reader: “Invalid signature: body re-serialised”. */
export function saidVerdict(verdict: Verdict, cause?: string): string {
  const said = verdicts[verdict][1];
  return cause ? `${said}: ${cause}` : said;
}

/** Their types are an event and an action, which people say as two words. */
const TWO_WORDS = new Set(['github', 'gitea']);

/** What an event is called: its type, else its request line. */
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

/** The host and port of a URL, or the text itself where it is none. */
export function host(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

/** Host, port and path of a URL without its scheme. */
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
  mod: isMac ? '⌘' : 'Ctrl',
  control: isMac ? '⌃' : 'Ctrl',
  shift: isMac ? '⇧' : 'Shift',
  alt: isMac ? '⌥' : 'Alt',
};

/** The name of a key, or of keys pressed together, on this platform: `r` is `R`, `Mod+z` is `Ctrl Z`. */
export function capOf(key: string): string {
  if (key === '+') return key;
  const names = key.split('+').map((part) => {
    const known = caps[part.toLowerCase()];
    return known ?? (part.length === 1 ? part.toUpperCase() : part);
  });
  return names.join(isMac ? '' : ' ');
}

// C0 and C1 controls, bidi controls, zero-width characters, line separators, the byte-order mark.
const hidden = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text from strangers with what can't be seen, or turns the line around, made visible: `⟨U+202E⟩`. */
export function visible(text: string): string {
  return text.replace(hidden, (mark) => {
    const code = mark.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}
