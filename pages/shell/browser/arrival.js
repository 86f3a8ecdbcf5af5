// Scrolls an opened page to its top, or to the part that its address names: `…/attention#head` or `…/attention?part=steps`.
// After Back, it scrolls the page to where it was scrolled before.
//
// The content above a part grows while the page is drawn. So this script scrolls to the place again whenever the page changes its
// size, until a person scrolls, types or clicks. Streamlit does not reset the scroll position if another page is opened.

import {
  elementWithKey,
  entryNumber,
  headerHeight,
  openedAt,
  pageScroller,
  whenAddressOpens,
  whenEntryOpens,
} from "../../ui/compat.js";

const AIR = 16; // px between the header and the part
const FOLLOWS = Node.DOCUMENT_POSITION_FOLLOWING;
const PATIENCE = 20_000; // ms without a change of size after which the scrolling ends; the page is complete

/** @type {Map<number, number>} */
const places = new Map(); // number of a history entry → the scroll position of its page at the person's last action there
let timer = 0;
let sizes = new ResizeObserver(() => {});
/** The stop of a lesson that was open at the person's last action. @type {string | null} */
let stop = null;

/** Scroll to the right place whenever an address is opened in this window. */
export function arriveAtParts() {
  let here = entryNumber();
  let page = location.pathname;
  let isOther = false; // whether the newest entry is of another page than the entry before it
  const note = () => {
    places.set(here, pageScroller().scrollTop);
    stop = lessonStop();
  };
  for (const type of ["pointerdown", "keydown", "click"]) addEventListener(type, note, { capture: true, passive: true });
  addEventListener("hashchange", () => keepPart());
  whenEntryOpens(() => {
    const isNew = entryNumber() > here;
    if (isNew) places.delete(entryNumber());
    isOther = location.pathname !== page;
    [here, page] = [entryNumber(), location.pathname];
    if (isNew && isOther) keepPart(true);
  });
  whenAddressOpens((byPerson) => {
    const place = places.get(entryNumber());
    if (byPerson && place !== undefined) keep(() => place);
    else keepPart(isOther);
  });
  for (const type of ["wheel", "touchmove", "pointerdown", "keydown"])
    addEventListener(type, leave, { capture: true, passive: true });
  const { hash, search } = new URL(openedAt());
  if (hash && !location.hash) {
    history.replaceState(history.state, "", location.pathname + location.search + hash);
    dispatchEvent(new HashChangeEvent("hashchange")); // anchor.js may already have read the address without it
  }
  keepPart(false, search);
}

/**
 * Scroll to an element that a click has opened (parts.py), and focus it, so that it is read aloud and the keys go on from there.
 *
 * @param {import("../../ui/component.js").Mount<{ key: string, count: number }>} mount
 */
export default ({ data }) =>
  keep(() => {
    const element = elementWithKey(data.key);
    if (!element) return null;
    if (element !== document.activeElement) {
      element.tabIndex = -1;
      element.style.outline = "none"; // it is no place to press
      element.focus({ preventScroll: true });
    }
    return nearest(element);
  });

/**
 * Scroll to the part that the address names.
 *
 * @param {boolean} orTop whether to scroll to the top if the address names no part
 * @param {string} search the query of the address as it was opened; the app then removes defaults from the address
 */
function keepPart(orTop = false, search = location.search) {
  leave();
  const part = new URLSearchParams(search).get("part");
  if (location.hash) keep(() => topOf(document.getElementById(location.hash.slice(1))));
  else if (asked()) keep(question);
  else if (!lessonStop() && part !== null) keep(() => choice(part));
  else if (orTop && (!lessonStop() || lessonStop() === stop)) pageScroller().scrollTo({ top: 0, behavior: "instant" });
}

/** The stop of the open lesson; null without a lesson. lessons/bar_arrival.js scrolls to the place of a stop. */
function lessonStop() {
  const query = new URLSearchParams(location.search);
  return query.has("lesson") ? query.get("lesson_stop") : null;
}

/** The name of the first question in the address: `alike` in `predict=alike:3~shown`. Undefined without one or in a lesson. */
function asked() {
  const query = new URLSearchParams(location.search);
  const [, name] = /^([a-z]+)[.:]/.exec(query.get("predict") ?? "") ?? [];
  return query.has("lesson") ? undefined : name;
}

/**
 * The scroll position, in px, with the question of the address in the middle of the screen. It is 0 if the question is on the
 * first screen, and null while the question is not drawn.
 */
function question() {
  const name = asked();
  const element = elementWithKey(`predict-answer-${name}`) ?? elementWithKey(`marking-${name}`);
  if (!element) return null;
  const { top, bottom } = element.getBoundingClientRect();
  const { scrollTop, clientHeight } = pageScroller();
  return scrollTop + bottom <= clientHeight ? 0 : scrollTop + top - clientHeight / 2;
}

/**
 * The scroll position, in px, with an element right below the header. It is null while the element is not drawn.
 *
 * @param {Element | null} element
 */
function topOf(element) {
  return element && pageScroller().scrollTop + element.getBoundingClientRect().top - headerHeight() - AIR;
}

/**
 * The scroll position, in px, nearest to the present one that shows an element whole, or the top of a higher one.
 *
 * @param {Element} element
 */
function nearest(element) {
  const { top, bottom } = element.getBoundingClientRect();
  const { scrollTop, clientHeight } = pageScroller();
  return scrollTop + Math.min(top - headerHeight() - AIR, Math.max(0, bottom + AIR - clientHeight));
}

/**
 * The scroll position, in px, of the picker of a part, or of the picture of the part above it (`part-map`), with the heading. It is
 * 0 in the upper third of the first screen, and null while nothing is drawn.
 */
function choice(/** @type {string} */ part) {
  const picker = elementWithKey(CSS.escape(`part-${part}`)) ?? elementWithKey("part");
  if (!picker) return null;
  const { scrollTop, clientHeight } = pageScroller();
  const heading = [...pageScroller().querySelectorAll("h2")].findLast((each) => each.compareDocumentPosition(picker) & FOLLOWS);
  const top = scrollTop + (heading ?? picker).getBoundingClientRect().top;
  return top < clientHeight / 3 ? 0 : top - headerHeight() - AIR;
}

/**
 * Scroll to a place, and again whenever the page changes its size.
 *
 * @param {() => number | null} place returns the scroll position, in px; null while it is unknown
 */
function keep(place) {
  leave();
  const scroller = pageScroller();
  sizes = new ResizeObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(leave, PATIENCE);
    scroller.scrollTo({ top: place() ?? scroller.scrollTop, behavior: "instant" });
  });
  for (const element of [scroller, ...scroller.children]) sizes.observe(element);
}

function leave() {
  sizes.disconnect();
  clearTimeout(timer);
}
