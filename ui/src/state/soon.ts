/** Makes calls that come close together one call, `wait` ms after the first; in a page that is seen, with a frame. */
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
