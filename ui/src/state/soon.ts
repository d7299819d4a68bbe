/** Merges calls into one, `wait` ms after the first; in a visible page it runs with the next frame after that. */
export function soon(run: () => void, wait: number): () => void {
  let waits = false;
  const due = () => {
    waits = false;
    run();
  };
  return () => {
    if (waits) return;
    waits = true;
    setTimeout(
      () => (typeof document === 'undefined' || document.hidden ? due() : requestAnimationFrame(due)),
      wait,
    );
  };
}
