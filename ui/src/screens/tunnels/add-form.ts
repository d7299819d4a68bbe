import type { Problem } from '../../api/client';
import type { NewTunnel } from '../../api/tunnels';
import { inWords } from '../../setup/calls';

/** The ways to add a tunnel. */
export type Way = 'relay' | 'invite' | 'smee' | 'quick';

/** The values of the form. */
export interface Fields {
  relay: string;
  token: string;
  name: string;
  invite: string;
  channel: string;
  program: 'cloudflared' | 'ngrok';
  source: string;
}

export type FieldName = keyof Fields;

/** What is wrong, by field; `form` if it is about no single field. */
export type Faults = Partial<Record<FieldName | 'form', string>>;

export const EMPTY: Fields = {
  relay: '',
  token: '',
  name: '',
  invite: '',
  channel: '',
  program: 'cloudflared',
  source: '',
};

const NAME = /^[a-z0-9][a-z0-9-]{2,62}$/;

/** Returns the problems that are visible before the request is sent. */
export function faultsOf(way: Way, fields: Fields): Faults {
  if (way === 'relay') return relayFaults(fields);
  if (way === 'invite') {
    const isInvite = /^hookmitt-invite:\S+$/.test(fields.invite.trim());
    return isInvite ? {} : { invite: 'An invitation is one line that starts with `hookmitt-invite:`' };
  }
  const source: Faults = fields.source === '' ? { source: 'Choose the source that its events go to.' } : {};
  if (way === 'quick') return source;
  return urlFault(fields.channel)
    ? { ...source, channel: 'Enter a channel’s URL, such as `https://smee.io/AbC123`.' }
    : source;
}

function relayFaults({ relay, token, name }: Fields): Faults {
  const faults: Faults = {};
  if (relay.trim() === '') faults.relay = 'Enter a relay’s URL, such as `https://relay.example.com`.';
  if (token.trim() === '') faults.token = 'The relay opens tunnels only for holders of its tokens.';
  if (name !== '' && !NAME.test(name))
    faults.name = 'Use 3 to 63 of a to z, 0 to 9 and -, starting with a letter or digit.';
  return faults;
}

function urlFault(text: string): boolean {
  try {
    return !/^https?:$/.test(new URL(text).protocol);
  } catch {
    return true;
  }
}

/** Returns the request for the fields. */
export function orderOf(way: Way, fields: Fields): NewTunnel {
  if (way === 'relay') {
    return {
      relay: fields.relay.trim(),
      token: fields.token.trim(),
      name: fields.name === '' ? null : fields.name,
    };
  }
  if (way === 'invite') return { invite: fields.invite.trim() };
  if (way === 'smee') return { kind: 'smee', url: fields.channel.trim(), source: fields.source };
  return { kind: fields.program, source: fields.source };
}

/** Assigns a refusal to the field that it is about. */
export function faultsIn(way: Way, problem: Problem): Faults {
  return { [fieldOf(way, problem)]: inWords(problem) };
}

function fieldOf(way: Way, { code, message, status }: Problem): FieldName | 'form' {
  if (status === 0) return 'form'; // hookmitt itself did not answer
  if (way === 'invite') return 'invite';
  if (way === 'smee') return 'channel';
  if (way === 'quick') return 'form';
  if (/token|unauthori[sz]ed|forbidden/.test(code)) return 'token';
  if (/name|taken/.test(code)) return 'name';
  if (/relay|unreachable|url|tls|network|insecure|version/.test(code)) return 'relay';
  // The code is unknown, so the message has to tell.
  if (/\btoken\b/i.test(message)) return 'token';
  return /\brelay\b/i.test(message) ? 'relay' : 'form';
}
