// Opens and closes a fold at once. Streamlit takes half a second, in which all that is below moves under a reader.

const FRAMES = 5; // after a click in which the movement can begin

/** Follow the clicks in this window from now on. */
export function foldAtOnce() {
  // Streamlit may load this file again in the same window.
  if ("foldsAtOnce" in document) return;
  Object.assign(document, { foldsAtOnce: true });
  addEventListener("click", ({ target }) => {
    const fold = target instanceof Element ? target.closest("summary")?.parentElement : null;
    if (fold) finish(fold, FRAMES);
  });
}

/**
 * Bring what moves of an element to its end.
 *
 * @param {Element} element
 * @param {number} frames for which to look whether anything moves
 */
function finish(element, frames) {
  for (const animation of element.getAnimations()) animation.finish();
  if (frames) requestAnimationFrame(() => finish(element, frames - 1));
}
