// Looks for what a demanding designer would see: cut text beside free room, texts that overlap, uneven right edges.
import assert from 'node:assert/strict';

/** Runs in the page: returns the faults of its layout, in words. */
function faults() {
  /** Free room in px from which on a text beside it must not be cut. */
  const ROOM = 24;
  /** Right edges within this distance in px were meant to be the same. */
  const NEAR = 20;

  const say = (element) => {
    const { className } = element;
    const kind = typeof className === 'string' && className ? `.${className.split(' ')[0]}` : '';
    return `<${element.localName}${kind}> “${element.textContent.trim().replace(/\s+/g, ' ').slice(0, 60)}”`;
  };
  const style = (element) => getComputedStyle(element);
  const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const isFloating = (element) => element.closest('[data-tooltip-content], [role=dialog], [role=menu], .toasts') !== null;

  /** What is visible of a rectangle within everything that cuts its element off. */
  const clipped = (rect, element) => {
    let { left, top, right, bottom } = rect;
    for (let around = element; around && around !== document.documentElement; around = around.parentElement) {
      const { overflowX, overflowY, contain } = style(around);
      const cuts = contain.includes('strict') || contain.includes('paint');
      const box = around.getBoundingClientRect();
      if (cuts || overflowX !== 'visible') [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
      if (cuts || overflowY !== 'visible') [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    }
    [left, top] = [Math.max(left, 0), Math.max(top, 0)];
    [right, bottom] = [Math.min(right, innerWidth), Math.min(bottom, innerHeight)];
    return { left, top, right, bottom, width: right - left, height: bottom - top };
  };

  /** The rectangles of an element's own texts, as wide as they would be drawn if nothing cut them. */
  const rectsOf = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()].filter(({ width, height }) => width > 0 && height > 0);
  };

  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.nodeValue.trim() || ['SCRIPT', 'STYLE'].includes(element.nodeName) || !isShown(element) || isFloating(element)) continue;
    for (const rect of rectsOf(node)) {
      const seen = clipped(rect, element);
      if (seen.width > 2 && seen.height > 4) texts.push({ element, rect, seen });
    }
  }

  const found = [];

  // Text that is cut although its row has room.
  // Half a pixel too little is enough for an ellipsis, and `scrollWidth` doesn't show it.
  const isCut = (element) => {
    const rects = rectsOf(element);
    const wide = Math.max(...rects.map(({ right }) => right)) - Math.min(...rects.map(({ left }) => left));
    return element.scrollWidth > element.clientWidth + 1 || wide > element.getBoundingClientRect().width + 0.02;
  };
  for (const element of document.querySelectorAll('*')) {
    const { overflowX, textOverflow, display } = style(element);
    if (!isShown(element) || isFloating(element) || overflowX !== 'hidden' || textOverflow !== 'ellipsis' || display === 'inline' || !isCut(element)) continue;
    let row = element.parentElement;
    while (row && row.children.length < 2) row = row.parentElement;
    if (!row || !style(row).display.includes('flex')) continue;
    const inside = row.getBoundingClientRect();
    const { paddingLeft, paddingRight, columnGap } = style(row);
    const width = inside.width - parseFloat(paddingLeft) - parseFloat(paddingRight);
    const children = [...row.children].filter((child) => isShown(child) && child.getBoundingClientRect().width > 0 && style(child).position !== 'absolute');
    const used = children.map((child) => {
      const parts = [...child.querySelectorAll('svg, img, button, input, kbd')].map((part) => part.getBoundingClientRect());
      const all = [...rectsOf(child), ...parts, ...(['svg', 'button', 'input'].includes(child.localName) ? [child.getBoundingClientRect()] : [])]
        .map((rect) => clipped(rect, child)).filter(({ width }) => width > 0);
      return all.length ? Math.max(...all.map(({ right }) => right)) - Math.min(...all.map(({ left }) => left)) : 0;
    });
    const free = width - used.reduce((sum, one) => sum + one, 0) - (children.length - 1) * (parseFloat(columnGap) || 0);
    if (free > ROOM) found.push(`${say(element)} is cut beside ${Math.round(free)} px of room in ${say(row)}`);
  }

  // A name that is cut while the subject after it still shows.
  for (const name of document.querySelectorAll('.name')) {
    const subject = name.nextElementSibling;
    if (subject?.classList.contains('subject') && isShown(name) && isCut(name) && subject.clientWidth > ROOM)
      found.push(`${say(name)} is cut while ${say(subject)} keeps ${subject.clientWidth} px`);
  }

  // Text that is cut off without a sign of it.
  for (const { element, rect, seen } of texts) {
    if (rect.right - seen.right < 3) continue;
    let around = element;
    let told = false;
    while (around && around !== document.body && !told) {
      const { overflowX, textOverflow } = style(around);
      told = textOverflow === 'ellipsis' || ['auto', 'scroll'].includes(overflowX);
      around = around.parentElement;
    }
    if (!told) found.push(`${say(element)} ends ${Math.round(rect.right - seen.right)} px beyond its edge`);
  }

  // Texts that lie over each other.
  for (const [at, one] of texts.entries()) {
    for (const other of texts.slice(at + 1)) {
      if (one.element === other.element || one.element.contains(other.element) || other.element.contains(one.element)) continue;
      const wide = Math.min(one.seen.right, other.seen.right) - Math.max(one.seen.left, other.seen.left);
      const high = Math.min(one.seen.bottom, other.seen.bottom) - Math.max(one.seen.top, other.seen.top);
      if (wide > 2 && high > 4) found.push(`${say(one.element)} and ${say(other.element)} overlap by ${Math.round(wide)} × ${Math.round(high)} px`);
    }
  }

  // Right edges of a column that are nearly, but not quite, the same. Only what was meant to stand at the edge counts.
  const isAtEnd = (element) => ['right', 'end'].includes(style(element).textAlign) || element.style.marginLeft === 'auto';
  // The frame of some fields is around them.
  const ink = (part) => (part.localName === 'input' && style(part).borderTopWidth === '0px' ? part.parentElement : part).getBoundingClientRect().right;
  for (const column of document.querySelectorAll('section, main, [role=tabpanel], footer')) {
    if (!isShown(column)) continue;
    const box = column.getBoundingClientRect();
    const { paddingRight, borderRightWidth } = style(column);
    const own = box.right - parseFloat(paddingRight) - parseFloat(borderRightWidth);
    const inset = parseFloat(style(column).getPropertyValue('--inset')) || 20;
    const edge = paddingRight === '0px' ? own - inset : own; // panes leave the margin to what they contain
    for (const part of column.querySelectorAll('table, input, select, textarea, pre, .code, td, [data-edge]')) {
      if (!isShown(part) || isFloating(part) || part.closest('section, main, [role=tabpanel], footer') !== column) continue;
      if (part.localName === 'td' && !isAtEnd(part)) continue;
      const off = ink(part) - edge;
      if (Math.abs(off) > 1 && Math.abs(off) < NEAR) found.push(`${say(part)} ends ${Math.round(off)} px from the edge of ${say(column)}`);
    }
  }
  return [...new Set(found)];
}

/** Returns the faults of a page's layout that last: while a pane is being filled, texts come and go. */
async function faultsOf(page) {
  await page.evaluate(() => document.fonts.ready);
  let found = await page.evaluate(faults);
  for (let again = 0; found.length > 0 && again < 20; again += 1) {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    found = await page.evaluate(faults);
  }
  return found;
}

/** Fails if the layout of a page has faults. */
export async function isEven(page, screen) {
  assert.deepEqual(await faultsOf(page), [], `the layout of ${screen}`);
}
