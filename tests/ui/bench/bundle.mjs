// What the page loads at its start.
import { gzipSync } from 'node:zlib';

/** Opens the page; returns the bytes of its files: scripts and styles gzipped, fonts as they are. */
export async function bundle(page, open) {
  const answers = [];
  const note = (response) => {
    const kind = response.request().resourceType();
    if (['document', 'script', 'stylesheet', 'font'].includes(kind)) answers.push({ kind, response });
  };
  page.on('response', note);
  await open();
  await page.waitForLoadState('networkidle').catch(() => {}); // the live stream never rests
  page.off('response', note);
  const sizes = { gzip: 0, fonts: 0 };
  for (const { kind, response } of answers) {
    const body = await response.body();
    if (kind === 'font') sizes.fonts += body.length;
    else sizes.gzip += gzipSync(body, { level: 9 }).length;
  }
  return { gzip_kb: sizes.gzip / 1000, fonts_kb: sizes.fonts / 1000, files: answers.length };
}
