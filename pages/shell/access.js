// Adds what Streamlit lacks for people who use a keyboard, a screen reader or a finger.

import { moveToTap, navigationLists, partsOfScrollBox, scrollBoxes, scrollBoxOf, sidebarFold } from "../ui/compat.js";

const PAUSE = 300; // ms between two times that the page is looked through, while it goes on changing
const SCROLLS = ["auto", "scroll"]; // what is hidden beyond a side cannot be reached by scrolling

/**
 * Keep every page of this window so that it can be used without a mouse and without seeing it.
 *
 * @param {string} scrollable says of a box that it scrolls
 */
export function keepAccessible(scrollable) {
  // Streamlit may load this file again in the same window.
  if ("keptAccessible" in document) return;
  Object.assign(document, { keptAccessible: true });
  let rests = false;
  let changed = false;
  // Another size of the letters or of the screen changes no element, only sizes.
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
    // Else a screen reader is told of a list without items, and of items without a list.
    for (const part of navigationLists()) part.setAttribute("role", "presentation");
    for (const box of scrollBoxes()) {
      letFocus(box, scrollable);
      for (const part of [box, ...partsOfScrollBox(box)]) sizes.observe(part);
    }
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  addEventListener("pointerdown", moveToTap, { capture: true, passive: true });
  keepUnfoldedInView();
  look();
}

/**
 * Scroll to a fold of the sidebar while it grows: its content comes after the click, and not all at once. Whatever a person does
 * next ends this, so that nobody is pulled back.
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
 * Let the keyboard reach a box while it has more than it shows, so that the arrow keys scroll it.
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
