import { toasts } from '../state/toasts.svelte';

/** Waits for code of the page. If it doesn't come, because Hookmitt has ended or is another version now, says so. */
export async function loaded<Code>(code: Promise<Code>): Promise<Code | undefined> {
  try {
    return await code;
  } catch {
    const action = { label: 'Reload', run: () => location.reload() };
    toasts.fail("This part couldn't be loaded.", { action });
    return undefined;
  }
}
