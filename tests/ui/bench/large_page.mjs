// What is measured inside the page over a large inbox. These functions run in the page.

/** Notes when the first row was drawn, and when a key then selected an event, in milliseconds since the page began. */
export const watchStart = () => {
  const marks = (window.hookmittMarks = {});
  const until = (is, then) => requestAnimationFrame(() => (is() ? then(performance.now()) : until(is, then)));
  until(() => document.querySelector('[role=listbox][data-first] [role=option]'), (row) => {
    marks.row = row;
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }));
    until(() => document.querySelector('[role=option][aria-selected=true]'), (usable) => {
      marks.painted = performance.getEntriesByType('paint')[0]?.startTime ?? null;
      marks.usable = usable;
    });
  });
};

/** Counts, frame by frame, for how many frames in a row a place in sight has no row, or a placeholder for one. */
export const watchBlanks = () => {
  const list = document.querySelector('[role=listbox][data-first]');
  const seen = { frames: 0, blank: 0, run: 0, longest: 0, blankRun: 0, longestBlank: 0, bones: 0, rows: 0, spans: [] };
  let [on, last] = [true, performance.now()];
  const isThere = (element) => element?.closest('[role=option], .gap, [data-bone]');
  const look = () => {
    const { left, top, bottom, width } = list.getBoundingClientRect();
    const end = list.firstElementChild.getBoundingClientRect().bottom; // below it the list has ended
    let [isBlank, hasBone] = [false, false];
    for (let y = top + 4; y < Math.min(bottom, end) - 4; y += 16) {
      const there = isThere(document.elementFromPoint(left + width / 2, y));
      isBlank ||= !there;
      hasBone ||= there?.hasAttribute('data-bone') ?? false;
    }
    return { isBlank, hasBone };
  };
  const frame = () => {
    const now = performance.now();
    seen.spans.push(now - last);
    last = now;
    seen.frames += 1;
    const { isBlank, hasBone } = look();
    seen.blank += isBlank ? 1 : 0;
    seen.bones += hasBone ? 1 : 0;
    seen.run = isBlank || hasBone ? seen.run + 1 : 0;
    seen.longest = Math.max(seen.longest, seen.run);
    seen.blankRun = isBlank ? seen.blankRun + 1 : 0;
    seen.longestBlank = Math.max(seen.longestBlank, seen.blankRun);
    seen.rows = Math.max(seen.rows, Math.round(list.scrollHeight / 32));
    if (on) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.hookmittBlanks = () => {
    on = false;
    const { frames, blank, bones, longest, longestBlank, rows, spans } = seen;
    spans.sort((a, b) => a - b);
    return { frames, blank, bones, longest, longestBlank, rows, p95: spans[Math.floor(spans.length * 0.95)] };
  };
};

/** Puts the thumb to a share of the list's height; returns how long it takes until nothing in sight is a placeholder. */
export const rowsAt = async (share) => {
  const frame = () => new Promise(requestAnimationFrame);
  const list = document.querySelector('[role=listbox][data-first]');
  const begun = performance.now();
  list.scrollTop = share * (list.scrollHeight - list.clientHeight);
  const { top, bottom } = list.getBoundingClientRect();
  const isWaiting = () => [...list.querySelectorAll('[data-bone]')].some((bone) => {
    const box = bone.getBoundingClientRect();
    return box.bottom > top && box.top < bottom;
  });
  do await frame();
  while (isWaiting() || list.querySelector('[role=option]') === null);
  return performance.now() - begun;
};

/** Changes the filter; returns how long it takes until its first rows are drawn, or the sentence that there are none. */
export const changeFilter = async (q) => {
  const frame = () => new Promise(requestAnimationFrame);
  const begun = performance.now();
  location.hash = q ? `#/events?q=${encodeURIComponent(q)}` : '#/events';
  const isDone = () => document.querySelector('[aria-busy=false]') !== null && document.querySelector('.body.old') === null;
  await frame(); // until it is applied, the list before it stands there
  await frame();
  while (!isDone()) await frame();
  return performance.now() - begun;
};
