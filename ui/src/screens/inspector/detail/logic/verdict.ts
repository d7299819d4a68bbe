import type { Cause, Verdict } from '../../../../api/shapes';
import { exactSize } from '../../../../format/size';
import { verdictWord, visible } from '../../../../format/words';
import { causeSentence, causeTitle, FROM_API, type Clock } from './causes';
import { follows, type Phrase } from './phrase';
import { limit, span } from './span';

/** The result of `POST /api/events/{id}/verify` with the current secrets. */
export interface Check {
  verdict: Verdict;
  scheme: string | null;
  scheme_name: string | null;
  secret_label: string | null;
  signed_at: string | null;
  tolerance_s: number | null;
  /** The secret is hookmitt's public test secret. */
  public_secret: boolean;
}

/** The input for the head of the Overview. */
export interface Judged {
  verdict: Verdict;
  causes: Cause[];
  /** The provider's name, if it is known. */
  sender: string | null;
  source: string;
  receivedAt: string;
  size: number;
  /** An answered set-up request; advice about missing signatures does not apply to it. */
  isSetUp: boolean;
  /** Which parts of the body a valid signature does not cover, in a sentence. */
  uncovered: string | null;
  /** Null until it is loaded. */
  check: Check | null;
}

/** The head of the Overview in words. */
export interface VerdictWords {
  /** “Valid”, or for an invalid event the whole sentence. */
  title: string;
  sentence: Phrase;
  /** How the event was checked, each fact in a few words. */
  facts: string[];
  /** Evidence beyond the sentence. */
  evidence: string | null;
  fix: string | null;
  /** Other causes found, likeliest first. */
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
      // Of a set-up request that proves nothing, the cause says all there is to say.
      if (first?.code.startsWith('set_up_')) {
        return { ...words, title: 'Unsigned:', sentence: [first.message] };
      }
      if (first && isFromApi(judged)) {
        return {
          ...words,
          title: `${causeTitle(first)}.`,
          sentence: [
            `Backup sync fetched it from ${sender(judged)}’s API, which gives the event but not what was signed.`,
          ],
          evidence: 'Delivered, it is signed again with this source’s secret.',
          fix: null,
        };
      }
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

/** Whether the provider's API vouches for an event instead of a signature: nothing is wrong with it. */
export const isFromApi = ({ causes }: { causes: readonly Cause[] }): boolean => causes[0]?.code === FROM_API;

function refuted(judged: Judged, first: Cause | undefined): Partial<VerdictWords> {
  if (!first) return { sentence: ['The signature doesn’t match.'] };
  const said = causeSentence(first, sender(judged, 'The sender'), clockOf(judged));
  if (said === null) return { sentence: [first.message] };
  return { title: `Invalid: ${said}`, evidence: isWhole(first, judged) ? null : first.message };
}

/** Whether the sentence already contains every number of the cause's message. */
function isWhole(cause: Cause, judged: Judged): boolean {
  const { age, tolerance_s } = clockOf(judged);
  return ['timestamp_old', 'timestamp_future'].includes(cause.code) && age !== null && tolerance_s !== null;
}

function proof(judged: Judged): Phrase {
  const { check } = judged;
  const by = `by ${sender(judged)}`;
  if (!check) return [`Signed ${by}.`];
  if (check.verdict !== 'valid') return [`Signed ${by}. The secret that verified it has been removed.`];
  const secret: Phrase = check.secret_label ? [' with secret ', { strong: visible(check.secret_label) }] : [];
  const known = check.public_secret ? ' That is a public test secret, so anyone could have sent it.' : '';
  return [
    `${isToken(check) ? 'Sent' : 'Signed'} ${by}`,
    ...secret,
    `${moment(clockOf(judged).age)}.${known}`,
  ];
}

/** Says what the signature does not cover, because readers of “valid” assume that the whole body is genuine. */
function open({ uncovered }: Judged): Phrase {
  return uncovered ? [` ${visible(uncovered)}`] : [];
}

/** Whether the scheme is a shared token, which is sent along but signs nothing. */
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
