import type { Verdict } from '../../../../api/shapes';

/** What a set-up request was answered. */
interface Answer {
  status: number;
}

/** What can be done with a set-up request by hand. */
export type Offer = 'save_secret' | 'confirm';

/** What hookmitt answered, or why it did not. */
export function answeredWords(answer: Answer | null, verdict: Verdict): string {
  if (answer === null) {
    return verdict === 'invalid' ? 'Not as asked: its signature is invalid.' : 'As every other request.';
  }
  if (answer.status === 403) return '403: what it says is not what is set here.';
  return answer.status >= 400 ? `${answer.status}, as it wants to hear.` : `${answer.status} at once`;
}

/** Who sent a set-up request, and when. */
interface From {
  remote: string | null;
  at: string;
}

/** What is left to be done, in a sentence or two. */
export function offerWords(offer: Offer, sender: string | null, from: From): string {
  const name = sender ?? 'the sender';
  return offer === 'save_secret'
    ? `It brings the secret that ${name} signs with from now on. ${sentWords(from)} Save it only if you have just made the webhook there.`
    : `Nothing comes until ${name}’s URL is called. That is done only when you say so.`;
}

/** Who sent it and when, as a sentence. */
export function sentWords(from: From): string {
  return `Sent by ${from.remote ?? 'an unknown address'}, ${from.at}.`;
}
