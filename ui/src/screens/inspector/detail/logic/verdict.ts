import type { Cause, Verdict } from '../../../../api/shapes';
import { exactSize } from '../../../../format/size';
import { verdictWord, visible } from '../../../../format/words';
import { causeSentence, type Clock } from './causes';
import { follows, type Phrase } from './phrase';
import { limit, span } from './span';

/** What `POST /api/events/{id}/verify` finds now. */
export interface Check {
  verdict: Verdict;
  scheme: string | null;
  scheme_name: string | null;
  secret_label: string | null;
  signed_at: string | null;
  tolerance_s: number | null;
}

/** What the head of the Overview is made from. */
export interface Judged {
  verdict: Verdict;
  causes: Cause[];
  /** The provider's name, where one is known. */
  sender: string | null;
  source: string;
  receivedAt: string;
  size: number;
  /** A set-up request that was answered: what mends a lost signature doesn’t fit it. */
  isSetUp: boolean;
  /** What of the body a valid signature leaves open, in a sentence. */
  uncovered: string | null;
  /** Null until it is known. */
  check: Check | null;
}

/** The head of the Overview in words. */
export interface VerdictWords {
  /** “Valid”, or for what is invalid the whole sentence. */
  title: string;
  sentence: Phrase;
  /** How it was checked, in a few words each. */
  facts: string[];
  /** What was found beyond the sentence. */
  evidence: string | null;
  fix: string | null;
  /** What else was found, likeliest first. */
  others: Cause[];
}

/** Says what verification found: one sentence, then the facts, then what to do. */
export function verdictWords(judged: Judged): VerdictWords {
  const title = verdictWord(judged.verdict);
  const [first, ...others] = judged.causes;
  const words = { title, sentence: [], facts: [], evidence: null, fix: first?.fix ?? null, others };
  switch (judged.verdict) {
    case 'valid':
      return { ...words, sentence: [...proof(judged), ...open(judged)], facts: facts(judged) };
    case 'invalid':
      return { ...words, ...refuted(judged, first), facts: facts(judged) };
    case 'unsigned':
      return {
        ...words,
        title: 'Unsigned: no signature header.',
        sentence: ['Nothing proves who sent it.'],
        evidence: first?.message ?? null,
        fix: judged.isSetUp ? null : words.fix,
      };
    case 'no_secret': {
      const sentence: Phrase = ['for ', { strong: judged.source }, ' yet, so nothing was checked.'];
      return { ...words, sentence, evidence: first?.message ?? null };
    }
    case 'unsupported':
      return {
        ...words,
        title: `Not checked: ${follows(first?.message ?? `nothing here can verify how ${sender(judged)} signed it.`)}`,
      };
    case 'pending':
      return { ...words, title: `Checking: fetching the key that ${sender(judged)} publishes.` };
  }
}

function refuted(judged: Judged, first: Cause | undefined): Partial<VerdictWords> {
  if (!first) return { sentence: ['The signature does not hold.'] };
  const said = causeSentence(first, sender(judged, 'The sender'), clockOf(judged));
  if (said === null) return { sentence: [first.message] };
  return { title: `Invalid: ${said}`, evidence: isWhole(first, judged) ? null : first.message };
}

/** Whether the sentence has every number that the cause's message has. */
function isWhole(cause: Cause, judged: Judged): boolean {
  const { age, tolerance_s } = clockOf(judged);
  return ['timestamp_old', 'timestamp_future'].includes(cause.code) && age !== null && tolerance_s !== null;
}

function proof(judged: Judged): Phrase {
  const { check } = judged;
  const by = `by ${sender(judged)}`;
  if (!check) return [`Signed ${by}.`];
  if (check.verdict !== 'valid') return [`Signed ${by}. The secret that proved it is no longer here.`];
  const secret: Phrase = check.secret_label ? [' with secret ', { strong: visible(check.secret_label) }] : [];
  return [`${isToken(check) ? 'Sent' : 'Signed'} ${by}`, ...secret, `${moment(clockOf(judged).age)}.`];
}

/** Who reads “valid” takes the whole body for genuine. */
function open({ uncovered }: Judged): Phrase {
  return uncovered ? [` ${visible(uncovered)}`] : [];
}

/** A shared token is sent along; it signs nothing. */
function isToken({ scheme_name }: Check): boolean {
  return /token/i.test(scheme_name ?? '');
}

function moment(age: number | null): string {
  if (age === null) return '';
  return age >= 0 ? `, ${span(age)} before it arrived` : `, ${span(age)} ahead of the clock here`;
}

function facts({ check, size, sender: name, source, uncovered }: Judged): string[] {
  if (!check?.scheme) return [];
  const how = `${name ?? source} ${check.scheme_name ?? check.scheme}`;
  const allowed = check.tolerance_s === null ? [] : [`tolerance ${limit(check.tolerance_s)}`];
  const body = uncovered ? 'not the whole body' : `raw body, ${exactSize(size)}`;
  return [how, ...allowed, isToken(check) ? 'the body is not signed' : body];
}

function clockOf({ check, receivedAt }: Judged): Clock {
  const signed = check?.signed_at ? Date.parse(check.signed_at) : null;
  return {
    age: signed === null ? null : Date.parse(receivedAt) - signed,
    tolerance_s: check?.tolerance_s ?? null,
  };
}

function sender({ sender: name }: Judged, otherwise = 'the sender'): string {
  return name ?? otherwise;
}
