import type { Event } from '../../../../api/shapes';

const WORDS: Record<Event['via'], string> = {
  direct: 'direct',
  tunnel: 'tunnel',
  backup_sync: 'sync',
  import: 'import',
  send: 'send',
  edit: 'edit',
};

/** Says in a word how an event came in. */
export function viaWord(via: Event['via']): string {
  return WORDS[via];
}

const SENTENCES: Record<Event['via'], string> = {
  direct: 'direct',
  tunnel: 'via tunnel',
  backup_sync: 'via backup sync',
  import: 'imported',
  send: 'sent by hookmitt',
  edit: 'an edited copy',
};

/** Says how an event came in, and from where: `direct from 127.0.0.1`. */
export function viaSentence({ via, remote }: Pick<Event, 'via' | 'remote'>): string {
  return remote ? `${SENTENCES[via]} from ${remote}` : SENTENCES[via];
}
