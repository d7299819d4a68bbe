import FolderInput from '@lucide/svelte/icons/folder-input';
import KeyRound from '@lucide/svelte/icons/key-round';
import Send from '@lucide/svelte/icons/send';
import RotateCcw from '@lucide/svelte/icons/rotate-ccw';

import { Problem } from '../../../api/client';
import type { Event } from '../../../api/shapes';
import { counted } from '../../../format/count';
import { eventName, host, visible } from '../../../format/words';
import { route } from '../../../state/route.svelte';
import { selection } from '../../../state/selection.svelte';
import { sources } from '../../../state/sources.svelte';
import { toasts } from '../../../state/toasts.svelte';
import { providerName } from './provider-names.svelte';
import { curlCommand, LARGEST_INLINE } from './logic/curl';
import { outcomeSentence } from './logic/outcome';
import {
  allowHost,
  bodyOf,
  confirmEvent,
  move,
  outcomeOf,
  replay,
  resumeTarget,
  retry,
  retryOne,
  saveSecret,
  sendWithheld,
  showEvent,
  tryTarget,
  type Asked,
  type Resign,
} from './requests';

/** Returns the name of an event in toasts. */
function nameOf(event: Event): string {
  return visible(eventName(event));
}

/** Reports a failure, and offers to try again. */
function failed(title: string, error: unknown, again: () => void): void {
  const { detail, hint } = Problem.of(error);
  toasts.fail(`${title}: ${visible(detail)}${hint ? `. ${visible(hint)}` : ''}`, { retry: again });
}

/** Re-signs with the event's own id. */
export const RESIGNED: Resign = { freshId: false };

/** The problem codes of a replay without a target, and of an event that can't be re-signed. */
const TARGETLESS = 'no-targets';
const UNSIGNABLE = 'private-key';

/**
 * Replays an event to its source's targets, or once to a URL, and reports the outcome.
 * Returns false if the source has no target, so that the caller can ask for a URL.
 */
export async function replayEvent(event: Event, to: string | null, resign: Resign = null): Promise<boolean> {
  const again = () => void replayEvent(event, to, resign);
  const [done, not] = resign ? ['Replayed re-signed', 'Not replayed'] : ['Replayed', 'Not replayed'];
  try {
    const asked = await replay(event.id, to, resign);
    asked.forEach((one) => void tell(done, not, one, again));
  } catch (error) {
    const problem = Problem.of(error);
    if (problem.code === TARGETLESS) return false;
    if (problem.code === UNSIGNABLE) unsignable(event);
    else failed(not, error, again);
  }
  return true;
}

/** Says why an event can't be re-signed, and offers a local test key instead. */
function unsignable({ source, provider }: Event): void {
  const sender = provider ? providerName(provider) : 'The provider';
  toasts.fail(`${sender}’s key is private, so this can’t be re-signed. Use a local test key?`, {
    action: { label: 'Create one', run: () => route.go({ screen: 'settings', page: `sources/${source}` }) },
  });
}

/** Sends one delivery of an event again. */
export async function retryDelivery(event: Event, delivery: string): Promise<void> {
  await again(event, () => retryOne(delivery), RETRIED);
}

/** Sends the skipped deliveries of an event. */
export async function forwardEvent(event: Event): Promise<void> {
  await again(event, () => retry(event.id), FORWARDED);
}

/** Sends one skipped delivery of an event. */
export async function forwardDelivery(event: Event, delivery: string): Promise<void> {
  await again(event, () => retryOne(delivery), FORWARDED);
}

/** The words of a toast about sending again, for success and for failure. */
interface Words {
  done: string;
  not: string;
}

const RETRIED: Words = { done: 'Sent again', not: 'Not sent' };
const FORWARDED: Words = { done: 'Forwarded', not: 'Not forwarded' };

async function again(event: Event, ask: () => Promise<Asked[]>, words: Words): Promise<void> {
  const onceMore = () => void again(event, ask, words);
  const { done, not } = words;
  try {
    const asked = await ask();
    if (asked.length === 0) toasts.fail(`${not}: ${nameOf(event)} has no delivery to send again`);
    asked.forEach((one) => void tell(done, not, one, onceMore));
  } catch (error) {
    failed(not, error, onceMore);
  }
}

/** Milliseconds after which a toast says that a delivery is still being sent. */
const SLOW = 1_500;

/** Waits for a delivery's outcome and reports it. */
async function tell(done: string, not: string, asked: Asked, again: () => void): Promise<void> {
  let target = 'the target';
  const slow = setTimeout(() => toasts.say(`Sending to ${target}, no answer yet`, { icon: Send }), SLOW);
  try {
    const event = await showEvent(asked.event_id, AbortSignal.timeout(10_000));
    const delivery = event.deliveries?.find((one) => one.id === asked.delivery_id);
    if (delivery) target = visible(host(delivery.target));
    const { good, text } = outcomeSentence(await outcomeOf(asked.delivery_id), { done, not, target });
    if (good) toasts.say(text, { icon: RotateCcw });
    else toasts.fail(text, { retry: again });
  } catch (error) {
    failed(not, error, again);
  } finally {
    clearTimeout(slow);
  }
}

/** Makes hookmitt try a target that is down at once. The detail pane shows the outcome. */
export async function tryNow(target: number): Promise<void> {
  await tryTarget(target).catch((error: unknown) => failed('Not tried', error, () => void tryNow(target)));
}

/** Resumes a paused target. */
export async function resume(target: number): Promise<void> {
  await resumeTarget(target).catch((error: unknown) =>
    failed('Not resumed', error, () => void resume(target)),
  );
}

/** Moves an event out of `unassigned` into a source, and shows it there. */
export async function moveEvent(event: Event, slug: string): Promise<void> {
  try {
    const moved = await move(event.id, slug);
    toasts.say(`${nameOf(event)} moved to ${slug}`, { icon: FolderInput });
    if (selection.id === event.id) selection.show(moved.id);
  } catch (error) {
    failed('Not moved', error, () => void moveEvent(event, slug));
  }
}

/** Allows, for the event's source, the host name that the request used. */
export async function allowThisHost(event: Event, host: string): Promise<void> {
  try {
    await allowHost(event.source, host);
    await sources.read();
    toasts.say(`${visible(host)} is allowed for ${event.source}`);
  } catch (error) {
    failed('Not allowed', error, () => void allowThisHost(event, host));
  }
}

/** Sends all withheld events whose requests used this host name. */
export async function forwardWithheld(event: Event, host: string): Promise<void> {
  try {
    const asked = await sendWithheld(event.source, host);
    toasts.say(`Forwarding ${counted(asked.length, 'event')} of ${visible(host)}`, { icon: Send });
  } catch (error) {
    failed('Not forwarded', error, () => void forwardWithheld(event, host));
  }
}

/** Stores the secret that a set-up request delivers; the page never sees it. */
export async function keepSecret(event: Event): Promise<void> {
  try {
    const { source, label } = await saveSecret(event.id);
    toasts.say(`The secret is stored as “${visible(label)}” for ${source}`, { icon: KeyRound });
  } catch (error) {
    failed('The secret was not stored', error, () => void keepSecret(event));
  }
}

/** Calls the URL that a set-up request asks to be called. */
export async function confirmSubscription(event: Event): Promise<void> {
  try {
    const { host, status } = await confirmEvent(event.id);
    toasts.say(`Confirmed: ${visible(host)} answered ${status}`);
  } catch (error) {
    failed('Not confirmed', error, () => void confirmSubscription(event));
  }
}

/** Copies a text and says what was copied. */
export async function copy(text: string | Promise<string>, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(await text);
    toasts.say(`${what} copied`);
  } catch (error) {
    failed('Not copied', error, () => void copy(text, what));
  }
}

/** Copies the event as a curl command. */
export async function copyCurl(event: Event): Promise<void> {
  const inline = event.size <= LARGEST_INLINE;
  const command = async () => curlCommand(event, inline ? (await bodyOf(event.id, null)).bytes : null);
  await copy(
    command(),
    inline ? 'curl command' : 'The body is large: save it next to the command. curl command',
  );
}

/** Copies the body as text. */
export async function copyBody(event: Event): Promise<void> {
  const text = async () =>
    new TextDecoder('utf-8', { ignoreBOM: true }).decode((await bodyOf(event.id, null)).bytes);
  await copy(text(), 'Body');
}
