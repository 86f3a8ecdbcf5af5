// Reports the empty boxes of a page (parts.py) that are on screen, or will be soon; and all of them if a person searches the page.

import { pageScroller, whenOpened } from "../../ui/compat.js";
import { stopLastCall, stopLater } from "../../ui/component.js";

const AHEAD = 100; // px below and above the screen
const QUIET = 400; // ms without a change of the page's size; before pictures are drawn, the boxes below them are too high up
const ANSWER = 5000; // ms after which a report without an answer is sent again

/**
 * @param {{ parentElement: ParentNode, setTriggerValue: (name: "seen", parts: string[]) => void }} component
 */
export default function mount({ parentElement, setTriggerValue }) {
  stopLastCall(parentElement);
  let answer = 0; // a timer while a report waits for its answer; the answer runs this script again
  let frame = 0;
  let timer = 0;
  let forget = () => {}; // forgets a report that waits until the address is open

  function report(all = false) {
    /** @type {NodeListOf<HTMLElement>} */
    const boxes = document.querySelectorAll(".unseen");
    const parts = [...boxes].filter((box) => all === true || isNear(box)).map((box) => box.dataset.part ?? "");
    // A second report would interrupt the run that draws the reported parts. Widgets in it could lose their values from a link.
    if (answer || !parts.length) return;
    answer = setTimeout(retry, ANSWER);
    keepHeight(true);
    setTriggerValue("seen", parts);
  }

  function retry() {
    answer = 0;
    keepHeight(false);
    report();
  }

  function reportSoon() {
    frame = 0;
    forget = whenOpened(report); // always the same function, so that it waits once; it may be called with an event
  }

  function reportAtNextFrame() {
    frame ||= requestAnimationFrame(reportSoon);
  }

  /** @param {KeyboardEvent} event */
  function reportForSearch({ ctrlKey, metaKey, key }) {
    // The browser searches what is drawn.
    if ((ctrlKey || metaKey) && key.toLowerCase() === "f") report(true);
  }

  function reportWhenQuiet() {
    clearTimeout(timer);
    timer = setTimeout(reportSoon, QUIET);
  }

  const scroller = pageScroller();
  // Content that is drawn above a box moves the box without a scroll event. A ResizeObserver reports each size once at first.
  const sizes = new ResizeObserver(reportWhenQuiet);
  for (const element of [scroller, ...scroller.children]) sizes.observe(element);
  scroller.addEventListener("scroll", reportAtNextFrame, { passive: true });
  addEventListener("keydown", reportForSearch);
  return stopLater(parentElement, () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    clearTimeout(answer);
    forget();
    keepHeight(false);
    sizes.disconnect();
    scroller.removeEventListener("scroll", reportAtNextFrame);
    removeEventListener("keydown", reportForSearch);
  });
}

/**
 * Keep the height of the page, or stop keeping it. While parts are drawn, the boxes below them are missing for a moment, and a
 * shorter page would scroll.
 *
 * @param {boolean} keeps
 */
function keepHeight(keeps) {
  const page = /** @type {HTMLElement} */ (pageScroller().firstElementChild);
  page.style.minHeight = keeps ? `${page.offsetHeight}px` : "";
  page.style.flexShrink = keeps ? "0" : ""; // with a least height, a flex item may be lower than its content
}

/**
 * Whether an element is on screen or near it.
 *
 * @param {Element} element
 */
function isNear(element) {
  const { top, bottom, height } = element.getBoundingClientRect();
  return height > 0 && top < innerHeight + AHEAD && bottom > -AHEAD;
}
