// Opens and closes a fold at once. Streamlit takes half a second to do so, and everything below the fold moves for that time.

const FRAMES = 5; // the animation starts within this number of frames after the click

/** Open and close folds at once, in this window. */
export function foldAtOnce() {
  addEventListener("click", ({ target }) => {
    const fold = target instanceof Element ? target.closest("summary")?.parentElement : null;
    if (fold) finish(fold, FRAMES);
  });
}

/**
 * End all animations of an element at once.
 *
 * @param {Element} element
 * @param {number} frames number of further frames in which to do this again
 */
function finish(element, frames) {
  for (const animation of element.getAnimations()) animation.finish();
  if (frames) requestAnimationFrame(() => finish(element, frames - 1));
}
