// Scrolls the page to the part that a stop of a lesson is about.

import { elementWithKey, headerHeight, pageScroller } from "../../ui/compat.js";

const PLACES = 6; // how many times in a row that part must be in its place
const GAP = 8; // px between the top of the screen and that part; a larger gap would show the end of the part above it
const PATIENCE = 8000; // ms to wait until the part is drawn
const NARROW = matchMedia("(max-width: 59.99rem)"); // the words are below the page: lesson_page.css

/**
 * The part of the page with a name, or null if it is not drawn. A picture comes before a heading of the same name.
 *
 * @param {string} name
 */
export function part(name) {
  if (!name) return null;
  return elementWithKey(name) ?? document.getElementById(name) ?? document.querySelector(`[data-part="${name}"]`);
}

/** The element that scrolls the words of the lesson: all of the panel. */
export function panel() {
  return elementWithKey("lesson_bar")?.parentElement ?? null;
}

/**
 * Whether the words stand beside the page, and are higher than the panel, which may still be filled by the stop before.
 *
 * @param {HTMLElement} words
 */
export function overflows(words) {
  const room = panel()?.clientHeight ?? Infinity;
  return !NARROW.matches && words.offsetHeight > room;
}

/** Where the page ends on the screen, in px: on a narrow screen, the panel covers the rest. */
function pageEnd() {
  return NARROW.matches ? (panel()?.getBoundingClientRect().top ?? innerHeight) : innerHeight;
}

/** If an element gets the keyboard focus under the panel, scroll it out from under the panel. */
export function keepFocusUncovered() {
  // Streamlit may load this file again in the same window.
  if ("uncoversFocus" in document) return;
  Object.assign(document, { uncoversFocus: true });
  addEventListener("focusin", (event) => {
    const [[target], host] = [event.composedPath(), event.target];
    if (!(target instanceof Element && host instanceof Element) || !target.matches(":focus-visible")) return;
    // Wait a frame, because the browser scrolls to the focused element, too.
    requestAnimationFrame(() => {
      if (panel()?.contains(host) || !pageScroller().contains(host)) return;
      pageScroller().scrollBy(0, Math.max(0, target.getBoundingClientRect().bottom + GAP - pageEnd()));
    });
  });
}

/**
 * Scroll down until the marks of an answer on a part are on screen. Returns whether they are drawn.
 *
 * @param {Element} found the part
 */
function toMarks(found) {
  const bottoms = [...found.querySelectorAll(".shapelayer path")].map((mark) => mark.getBoundingClientRect().bottom);
  pageScroller().scrollBy(0, Math.max(0, ...bottoms.map((bottom) => bottom + 2 * GAP - pageEnd())));
  return bottoms.length > 0;
}

/** How far to scroll so that a heading at the top of the screen is whole: a negative number, or 0 if none is cut. */
function toHeading() {
  const top = headerHeight();
  const boxes = [...pageScroller().querySelectorAll("h2, h3")].map((heading) => heading.getBoundingClientRect());
  return (boxes.find((box) => box.top < top && box.bottom > top)?.top ?? top) - top;
}

/**
 * Scroll to a part of the page, until it is drawn or a person scrolls or presses a key.
 *
 * @param {HTMLElement} root the element of the bar
 * @param {string} target the name of the part; empty for the top
 * @param {boolean} marked whether the part has marks of an answer, which must be on screen
 * @param {() => boolean} current returns whether the stop is still open
 */
export function arrive(root, target, marked, current) {
  const scroller = pageScroller();
  if (!target) {
    scroller.scrollTo(0, 0);
    return;
  }
  const until = performance.now() + PATIENCE;
  let places = 0; // how many times the part was in its place; elements that are drawn later above it move it
  const left = new AbortController();
  for (const type of ["wheel", "touchmove", "keydown"]) {
    addEventListener(type, () => left.abort(), { capture: true, passive: true, signal: left.signal });
  }
  const look = () => {
    if (left.signal.aborted) return;
    if (!root.isConnected || !current() || performance.now() > until) {
      left.abort();
      return;
    }
    const found = (marked ? null : document.getElementById(target)) ?? part(target); // without marks, its heading, if it has one
    if (found) {
      const before = scroller.scrollTop;
      scroller.scrollBy(0, found.getBoundingClientRect().top - headerHeight() - GAP);
      scroller.scrollBy(0, toHeading());
      places = (!marked || toMarks(found)) && scroller.scrollTop === before ? places + 1 : 0;
    } else {
      // A part is drawn only after it was scrolled to: pages/shell/frame/parts.py.
      document.querySelector(".unseen")?.scrollIntoView({ block: "center" });
    }
    if (places < PLACES) setTimeout(look, 250);
    else left.abort();
  };
  look();
}
