// Adds accessibility that Streamlit lacks: for a keyboard and a screen reader.

import { navigationLists, partsOfScrollBox, scrollBoxes, scrollBoxOf, sidebarFold } from "../../ui/compat.js";

const PAUSE = 300; // ms between two searches of the page while it is changing
const SCROLLS = ["auto", "scroll"]; // values of `overflow` with which a person can scroll; with `hidden` they cannot

/**
 * Keep every page of this window usable without a mouse and with a screen reader.
 *
 * @param {string} scrollable the label for screen readers of a box that can be scrolled
 */
export function keepAccessible(scrollable) {
  let rests = false;
  let changed = false;
  // A change of the letter size or of the screen size changes no element, so the observer below does not report it.
  const sizes = new ResizeObserver((entries) => {
    for (const box of new Set(entries.map(({ target }) => scrollBoxOf(target)))) if (box) letFocus(box, scrollable);
  });
  const look = () => {
    changed = rests;
    if (rests) return;
    rests = true;
    setTimeout(() => {
      rests = false;
      if (changed) look();
    }, PAUSE);
    // Otherwise a screen reader announces a list without items, and items without a list.
    for (const part of navigationLists()) part.setAttribute("role", "presentation");
    for (const box of scrollBoxes()) {
      letFocus(box, scrollable);
      for (const part of [box, ...partsOfScrollBox(box)]) sizes.observe(part);
    }
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  keepUnfoldedInView();
  look();
}

/**
 * Scroll to a fold of the sidebar while it grows, because its content arrives after the click and in several steps. The next
 * action of the person ends this, so that the page does not scroll against the person.
 */
function keepUnfoldedInView() {
  const grown = new ResizeObserver(([fold]) => {
    if (fold?.target.hasAttribute("open")) fold.target.scrollIntoView({ block: "nearest" });
  });
  for (const deed of ["click", "wheel", "touchmove", "keydown"])
    addEventListener(
      deed,
      (event) => {
        grown.disconnect();
        const fold = event.type === "click" ? sidebarFold(event) : null;
        if (fold) grown.observe(fold);
      },
      { passive: true },
    );
}

/**
 * Make a box focusable while its content is larger than the box, so that the arrow keys scroll it.
 *
 * @param {HTMLElement} box
 * @param {string} label
 */
function letFocus(box, label) {
  const { overflowX, overflowY } = getComputedStyle(box);
  const scrolls =
    (box.scrollWidth > box.clientWidth && SCROLLS.includes(overflowX)) ||
    (box.scrollHeight > box.clientHeight && SCROLLS.includes(overflowY));
  if (scrolls === box.hasAttribute("tabindex")) return;
  for (const [name, value] of Object.entries({ tabindex: "0", role: "group", "aria-label": label })) {
    if (scrolls) box.setAttribute(name, value);
    else box.removeAttribute(name);
  }
}
