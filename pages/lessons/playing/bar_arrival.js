// Scrolls the page to the part that a stop of a lesson is about.

import { elementWithKey, headerHeight, pageScroller } from "../../ui/compat.js";

const PLACES = 6; // how many times to scroll to that part
const GAP = 8; // px between the bar and that part; a larger gap would show the end of the part above it
const PATIENCE = 8000; // ms to wait until the part is drawn
const END = 0.4; // greatest share of a phone's screen that the end of the bar takes
const PHONE = matchMedia("(max-width: 50rem)"); // as in bar.css

/**
 * The part of the page with a name, or null if it is not drawn. A picture comes before a heading of the same name.
 *
 * @param {string} name
 */
export function part(name) {
  if (!name) return null;
  return elementWithKey(name) ?? document.getElementById(name) ?? document.querySelector(`[data-part="${name}"]`);
}

/** The element that stays on screen while the page scrolls: the bar and the class panel. Null on a small screen (app.css). */
function staying() {
  const around = elementWithKey("lesson_bar")?.parentElement?.parentElement;
  return around && getComputedStyle(around).position === "sticky" ? around : null;
}

/**
 * On a phone, keep only the end of the bar on screen: the question and the revealed text, up to a share of the screen.
 *
 * @param {HTMLElement} root the element of the bar
 */
export function keepEnd(root) {
  const keep = () => {
    const around = staying();
    const end = root.querySelector(".side") ?? root.querySelector(".moves");
    if (!around || !end) return;
    const { bottom, height } = around.getBoundingClientRect();
    const most = Math.min(bottom - end.getBoundingClientRect().top, END * innerHeight);
    if (PHONE.matches) around.style.setProperty("--lesson-top", `${headerHeight() + Math.min(0, most - height)}px`);
    else around.style.removeProperty("--lesson-top");
  };
  new ResizeObserver(keep).observe(root);
  PHONE.addEventListener("change", keep);
}

/** If an element gets the keyboard focus under a bar that stays on screen, scroll it out from under the bar. */
export function keepFocusUncovered() {
  // Streamlit may load this file again in the same window.
  if ("uncoversFocus" in document) return;
  Object.assign(document, { uncoversFocus: true });
  addEventListener("focusin", (event) => {
    const [[target], host] = [event.composedPath(), event.target];
    if (!(target instanceof Element && host instanceof Element) || !target.matches(":focus-visible")) return;
    // Wait a frame, because the browser scrolls to the focused element, too.
    requestAnimationFrame(() => {
      const around = staying();
      if (!around || around.contains(host) || !pageScroller().contains(host)) return;
      pageScroller().scrollBy(0, Math.min(0, target.getBoundingClientRect().top - around.getBoundingClientRect().bottom - GAP));
    });
  });
}

/** Whether all of the bar stays on screen while the page scrolls. */
export function stays() {
  return staying() !== null && !PHONE.matches;
}

/**
 * Scroll down until the marks of an answer on a part are on screen. Returns whether they are drawn.
 *
 * @param {Element} found the part
 */
function toMarks(found) {
  const bottoms = [...found.querySelectorAll(".shapelayer path")].map((mark) => mark.getBoundingClientRect().bottom);
  pageScroller().scrollBy(0, Math.max(0, ...bottoms.map((bottom) => bottom + 2 * GAP - innerHeight)));
  return bottoms.length > 0;
}

/**
 * Scroll to a part of the page. If the bar scrolls away with the page, the page stays at its top unless a person asks for the
 * part, so that the bar is read first.
 *
 * @param {HTMLElement} root the element of the bar
 * @param {string} target the name of the part; empty for the top
 * @param {boolean} asked whether a person asks for the part
 * @param {boolean} marked whether the part has marks of an answer, which must be on screen
 * @param {() => boolean} current returns whether the stop is still open
 */
export function arrive(root, target, asked, marked, current) {
  const scroller = pageScroller();
  if (!target || !(stays() || asked)) {
    scroller.scrollTo(0, 0);
    return;
  }
  const until = performance.now() + PATIENCE;
  let places = 0; // how many times it was scrolled to; elements that are drawn later above the part move it
  const look = () => {
    if (!root.isConnected || !current() || performance.now() > until) return;
    const found = part(target);
    if (found) {
      const edge = staying()?.getBoundingClientRect().bottom ?? headerHeight();
      scroller.scrollBy(0, found.getBoundingClientRect().top - edge - GAP);
      if (!marked || toMarks(found)) places += 1;
    } else {
      // A part is drawn only after it was scrolled to: pages/shell/frame/parts.py.
      document.querySelector(".unseen")?.scrollIntoView({ block: "center" });
    }
    if (places < PLACES) setTimeout(look, 250);
  };
  look();
}
