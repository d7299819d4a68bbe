// Waits for what the page should show.
import assert from 'node:assert/strict';

import { eventually } from './wait.mjs';

const flat = (text) => text.replace(/\s+/g, ' ').trim();

/** Runs in the page: returns an element's text as rendered, including shadow trees (the editor's). */
const drawn = (element) => {
  const hosts = [...element.querySelectorAll('*')].filter((one) => one.shadowRoot);
  const inside = hosts.flatMap((host) => [...host.shadowRoot.children].map((child) => child.innerText ?? ''));
  return [element.innerText, ...inside].join(' ');
};

/** Returns the text of an element on one line. */
export const textOf = async (locator) => flat(await locator.evaluate(drawn));

const fits = (text, wanted) => (wanted instanceof RegExp ? wanted.test(text) : text.includes(wanted));

/** Waits until exactly one such element is visible. */
export async function sees(locator) {
  await locator.waitFor({ state: 'visible' });
  return locator;
}

/** Waits until no such element is visible. */
export const gone = (locator) => locator.waitFor({ state: 'hidden' });

/** Waits until the element's text has all of these parts: texts or patterns. */
export async function says(locator, ...parts) {
  const told = parts.map(String).join(' and ');
  let text = '';
  await eventually(`${locator} says ${told}`, async () => {
    text = await textOf(locator);
    if (parts.every((part) => fits(text, part))) return true;
    throw new Error(`it says ${JSON.stringify(text)}`);
  });
  return text;
}

/** Waits until there are this many elements. */
export const counts = (locator, wanted) => eventually(`${locator} is there ${wanted} times`, async () => {
  const count = await locator.count();
  if (count === wanted) return true;
  throw new Error(`there are ${count}`);
});

/** Returns what axe-core finds that is serious or critical, in words. */
export const barriers = (page) => page.evaluate(async () => {
  // A colour in transition is neither the old nor the new one: what moved while axe-core looked is checked again.
  const begins = ['animationstart', 'transitionrun'];
  let moved;
  const moves = () => { moved = true; };
  const moving = () => document.getAnimations()
    .filter(({ effect, playState }) => playState !== 'finished' && Number.isFinite(effect.getComputedTiming().endTime));
  const look = async () => {
    for (let now = moving(); now.length; now = moving()) await Promise.allSettled(now.map(({ finished }) => finished));
    moved = false;
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    moved ||= moving().length > 0;
    return violations;
  };
  for (const begin of begins) document.addEventListener(begin, moves, true);
  try {
    let violations = await look();
    while (violations.length && moved) violations = await look();
    return violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .map(({ id, help, nodes }) => `${id} (${help}): ${nodes.slice(0, 4).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? node.all[0]?.message ?? ''}`).join(' | ')}`);
  } finally {
    for (const begin of begins) document.removeEventListener(begin, moves, true);
  }
});

/** Fails if axe-core finds anything serious or critical. */
export async function hasNoBarriers(page, screen) {
  assert.deepEqual(await barriers(page), [], `axe-core about ${screen}`);
}

/** Returns the focused element as a screen reader names it; fails if the focus is not visible. */
export async function focused(page) {
  const focus = await page.evaluate(() => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    const active = document.getElementById(element?.getAttribute('aria-activedescendant') ?? '') ?? element;
    const seen = (style) => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
    const around = [active, element, element?.parentElement].filter(Boolean);
    const ring = around.some((one) => seen(getComputedStyle(one)) || getComputedStyle(one).boxShadow !== 'none')
      || active?.getAttribute('aria-selected') === 'true';
    return { role: active?.getAttribute('role') ?? active?.tagName.toLowerCase(), ring,
      name: (active?.getAttribute('aria-label') ?? active?.innerText ?? '').trim() };
  });
  assert.ok(focus.ring, `the focus is not to be seen on ${focus.role} ${focus.name.slice(0, 80)}`);
  return focus;
}
