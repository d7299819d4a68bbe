/** Targets as users type them. The engine has the last word; these checks only give early feedback. */

/** A parsed target, or what is wrong with it. */
export type ReadTarget =
  { ok: true; url: string; host: string; port: number; loopback: boolean } | { ok: false; problem: string };

const SHAPE = 'Write it like `http://localhost:3000/webhooks`, or use a port such as 3000.';

/** Parses a URL or one of its short forms: `3000`, `:3000/hooks`, `localhost:3000`. */
export function readTarget(text: string): ReadTarget {
  const url = spelledOut(text.trim());
  if (url === null) return { ok: false, problem: SHAPE };
  const problem = problemOf(url);
  if (problem !== null) return { ok: false, problem };
  const parsed = parse(url);
  if (parsed === null) return { ok: false, problem: SHAPE };
  const implied = parsed.protocol === 'https:' ? 443 : 80;
  const port = parsed.port === '' ? implied : Number(parsed.port);
  if (port === 0) return { ok: false, problem: 'Port 0 isn’t a real port.' };
  return { ok: true, url, host: parsed.hostname, port, loopback: isLoopback(parsed.hostname) };
}

/** Says briefly where a target is: its port on this machine, else its host and port. */
export function placeOf(target: { host: string; port: number; loopback: boolean }): string {
  return target.loopback ? `port ${target.port}` : `${target.host}:${target.port}`;
}

/**
 * Returns what is called for an event with this path if the target's own path ends with it too: then one of the two is
 * too much. Null if it isn't doubled.
 */
export function doubledPath(target: string, path: string): { called: string; instead: string } | null {
  const own = path.replace(/\/$/, '');
  const url = target.replace(/\/$/, '');
  const base = parse(url)?.pathname ?? '';
  if (own === '' || !base.endsWith(own)) return null;
  return { called: base + own, instead: url.slice(0, -own.length) };
}

/** Returns a target without its scheme, as lists show it. */
export function shortTarget(url: string): string {
  return url.replace(/^https?:\/\//, '');
}

function spelledOut(text: string): string | null {
  if (/^https?:\/\//i.test(text)) return text;
  if (text === '' || text.includes('://')) return null;
  const head = text.split(/[/?]/, 1)[0] ?? '';
  if (/^:?\d+$/.test(head)) return `http://localhost:${text.replace(/^:/, '')}`;
  // A single word is more likely a mistake than the name of a server.
  return /[.:[]/.test(head) || head.toLowerCase() === 'localhost' ? `http://${text}` : null;
}

function parse(url: string): URL | null {
  try {
    return new URL(url);
  } catch {
    return null;
  }
}

function problemOf(url: string): string | null {
  const rest = url.replace(/^https?:\/\//i, '');
  const authority = rest.split(/[/?#]/, 1)[0] ?? '';
  if (authority === '') return SHAPE;
  if (authority.includes('@')) {
    return 'Leave out the user name and password: events keep the sender’s own Authorization header.';
  }
  if (rest.includes('#')) return 'Leave out the # and what follows, which is never sent to a server.';
  const wrong = /[^\x21-\x7e]|["<>\\^`]/.exec(rest.slice(authority.length));
  if (wrong !== null) return `Write ${shown(wrong[0])} percent-encoded.`;
  return null;
}

function shown(character: string): string {
  return character === ' ' ? 'a space as %20, or leave it out; it can’t stay' : `“${character}”`;
}

function isLoopback(host: string): boolean {
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    /^127\./.test(host) ||
    host === '[::1]' ||
    host === '0.0.0.0'
  );
}
