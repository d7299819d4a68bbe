import { describe, expect, it } from 'vitest';
import type { Cause, Verdict } from '../../../../api/shapes';
import { plain } from './phrase';
import { span } from './span';
import { verdictWords, type Check, type Judged } from './verdict';

const check: Check = {
  verdict: 'valid',
  scheme: 'stripe-v1',
  scheme_name: 'v1, HMAC-SHA256',
  secret_label: 'Test mode',
  signed_at: '2026-11-20T09:00:51Z',
  tolerance_s: 300,
  public_secret: false,
};

function judged(verdict: Verdict, change: Partial<Judged> = {}): Judged {
  return {
    verdict,
    causes: [],
    sender: 'Stripe',
    source: 'stripe-test',
    receivedAt: '2026-11-20T09:00:51.400Z',
    size: 3412,
    isSetUp: false,
    uncovered: null,
    check,
    ...change,
  };
}

const cause = (code: string): Cause => ({ code, title: null, message: 'Found.', fix: 'Mend.' });
const sentence = (of: Judged) => `${verdictWords(of).title} | ${plain(verdictWords(of).sentence)}`;

describe('the verdict in words', () => {
  it('says who signed a valid event, with what, and when', () => {
    expect(sentence(judged('valid'))).toBe(
      'Valid | Signed by Stripe with secret Test mode, 0.4 s before it arrived.',
    );
    expect(sentence(judged('valid', { check: { ...check, public_secret: true } }))).toContain(
      'anyone could have sent it',
    );
    expect(verdictWords(judged('valid')).facts).toEqual([
      'Stripe v1, HMAC-SHA256',
      'tolerance 5 min',
      'raw body, 3,412 B',
    ]);
  });

  it('says less while less is known', () => {
    expect(sentence(judged('valid', { check: null }))).toBe('Valid | Signed by Stripe.');
    expect(sentence(judged('valid', { check: { ...check, signed_at: null, tolerance_s: null } }))).toBe(
      'Valid | Signed by Stripe with secret Test mode.',
    );
  });

  it('says what a valid signature leaves open', () => {
    const uncovered = 'Of the body only a CRC-32 is signed.';
    expect(sentence(judged('valid', { uncovered }))).toBe(
      'Valid | Signed by Stripe with secret Test mode, 0.4 s before it arrived. Of the body only a CRC-32 is signed.',
    );
  });

  it('keeps a proof whose secret is gone', () => {
    const gone = { ...check, verdict: 'no_secret' as const, secret_label: null };
    expect(sentence(judged('valid', { check: gone }))).toBe(
      'Valid | Signed by Stripe. The secret that verified it has been removed.',
    );
  });

  it('names the cause of what is invalid, and the fix', () => {
    const words = verdictWords(
      judged('invalid', { causes: [cause('body_reserialized'), cause('timestamp_old')] }),
    );
    expect(words.title).toBe('Invalid: the body was parsed and written again on its way here.');
    expect([words.evidence, words.fix, words.others.length]).toEqual(['Found.', 'Mend.', 1]);
  });

  it('says how late a signature is', () => {
    const late = { ...check, signed_at: '2026-11-20T08:48:51Z' };
    const title = (tolerance_s: number | null) =>
      verdictWords(judged('invalid', { causes: [cause('timestamp_old')], check: { ...late, tolerance_s } }))
        .title;
    expect(title(300)).toBe('Invalid: signed 12 min before it arrived; Stripe allows 5.');
    expect(title(30)).toBe('Invalid: signed 12 min before it arrived; Stripe allows 30 s.');
    expect(title(null)).toBe('Invalid: signed 12 min before it arrived.');
  });

  it('lets an unknown cause speak for itself', () => {
    expect(sentence(judged('invalid', { causes: [cause('new_one')] }))).toBe('Invalid | Found.');
  });

  it('has a fix for what came unsigned, unless it only sets the webhook up', () => {
    const causes = [cause('unsigned')];
    expect(verdictWords(judged('unsigned', { causes })).fix).toBe('Mend.');
    expect(verdictWords(judged('unsigned', { causes, isSetUp: true })).fix).toBeNull();
  });

  it('finds nothing wrong with what backup sync fetched', () => {
    const copy = judged('unsigned', {
      causes: [{ ...cause('from_the_api'), title: 'From the API, unsigned' }],
    });
    expect(sentence(copy)).toBe(
      'From the API, unsigned. | Backup sync fetched it from Stripe’s API, which gives the event but not what was signed.',
    );
    expect(verdictWords(copy).fix).toBeNull();
  });

  it('says of an unsigned set-up request what its cause says', () => {
    const causes = [{ ...cause('set_up_unsigned'), message: 'Meta never signs this set-up request.' }];
    const words = verdictWords(judged('unsigned', { causes, isSetUp: true }));
    expect(words.sentence).toEqual(['Meta never signs this set-up request.']);
    expect(words.fix).toBe('Mend.');
    expect(words.title).toBe('Unsigned:');
  });

  it('has a sentence for each other verdict', () => {
    expect(sentence(judged('unsigned'))).toBe('Unsigned: no signature header. | Nothing proves who sent it.');
    expect(sentence(judged('no_secret', { source: 'linear' }))).toBe(
      'No secret | for linear yet, so nothing was checked.',
    );
    expect(sentence(judged('unsupported', { sender: null }))).toContain(
      'Not checked: nothing here can verify',
    );
    const offline = {
      ...cause('key_unavailable'),
      message: 'The certificate could not be fetched (offline).',
    };
    expect(verdictWords(judged('unsupported', { causes: [offline] })).title).toBe(
      'Not checked: the certificate could not be fetched (offline).',
    );
    expect(sentence(judged('pending', { sender: 'SNS' }))).toBe(
      'Checking: fetching the key that SNS publishes. | ',
    );
  });
});

it('measures spans as sentences do', () => {
  expect([400, 9_960, 42_000, 119_000, 720_000, 9_000_000, 3 * 86_400_000].map(span)).toEqual([
    '0.4 s',
    '10 s',
    '42 s',
    '119 s',
    '12 min',
    '3 h',
    '3 days',
  ]);
});
