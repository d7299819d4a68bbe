import type { Verdict } from '../../../../api/shapes';

/** The answer to a set-up request. */
interface Answer {
  status: number;
}

/** What the user can do about a set-up request. */
export type Offer = 'save_secret' | 'confirm';

/** Says what hookmitt answered, or why it gave no special answer. */
export function answeredWords(answer: Answer | null, verdict: Verdict): string {
  if (answer === null) {
    return verdict === 'invalid'
      ? 'Not as requested: its signature is invalid.'
      : 'Like every other request.';
  }
  if (answer.status === 403) return '403: the token it sent isn’t the one set here.';
  return answer.status >= 400 ? `${answer.status}, as it expects.` : `${answer.status} at once`;
}

/** Where a set-up request came from, and when. */
interface From {
  remote: string | null;
  at: string;
}

/** Says what is left to do, in one or two sentences. */
export function offerWords(offer: Offer, sender: string | null, from: From): string {
  const name = sender ?? 'the sender';
  return offer === 'save_secret'
    ? `It contains the secret that ${name} signs with from now on. ${sentWords(from)} Save it only if you have just created the webhook there.`
    : `${name} sends nothing until the URL in this request is called. That happens only when you confirm.`;
}

/** Says who sent the request and when. */
export function sentWords(from: From): string {
  return `Sent by ${from.remote ?? 'an unknown address'}, ${from.at}.`;
}
