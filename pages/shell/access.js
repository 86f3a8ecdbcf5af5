// What a keyboard, a screen reader or a finger needs and Streamlit leaves out.

import { moveToTap, navigationLists, scrollBoxes, sidebarFold } from "../ui/compat.js";

const QUIET = 300; // ms without a change of the page before it is looked through

/**
 * Keep every page of this window so that it can be used without a mouse and without seeing it.
 *
 * @param {string} scrollable says of a box that it scrolls
 */
export function keepAccessible(scrollable) {
  // Streamlit may load this file again in the same window.
  if ("keptAccessible" in document) return;
  Object.assign(document, { keptAccessible: true });
  let timer = 0;
  const look = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // Else a screen reader is told of a list without items, and of items without a list.
      for (const part of navigationLists()) part.setAttribute("role", "presentation");
      for (const box of scrollBoxes()) letFocus(box, scrollable);
    }, QUIET);
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", look);
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
  const larger = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
  const scrolls = larger && getComputedStyle(box).overflowX !== "visible";
  if (scrolls === box.hasAttribute("tabindex")) return;
  for (const [name, value] of Object.entries({ tabindex: "0", role: "group", "aria-label": label })) {
    if (scrolls) box.setAttribute(name, value);
    else box.removeAttribute(name);
  }
}
