// Opens a page at its top or at the part that its address names, `…/attention#head` or `…/attention?part=steps`, and Back at the
// place that was left.
//
// What stands above a part grows while the page is drawn. So the place is kept until the page is at rest, or until a person
// scrolls, types or presses. Streamlit leaves the next page scrolled as far as the one before was.

import {
  elementWithKey,
  entryNumber,
  headerHeight,
  isRunning,
  openedAt,
  pageScroller,
  whenAddressOpens,
  whenEntryOpens,
} from "../ui/compat.js";

const AIR = 16; // px between the header and the part
const PATIENCE = 20_000; // ms
const REST = 2_500; // ms without a change
const REST_AT_TOP = 300; // ms: nothing stands above the top
const OFTEN = 100; // ms

/** @type {Map<number, number>} */
const places = new Map(); // number of an entry of the history → where its page was scrolled to when a person last acted
let timer = 0;
/** The stop of a lesson that was open when a person last acted. @type {string | null} */
let stop = null;

/** Follow the addresses of this window from now on. */
export function arriveAtParts() {
  // Streamlit may load this file again in the same window.
  if ("arrivesAtParts" in history) return;
  Object.assign(history, { arrivesAtParts: true });
  let here = entryNumber();
  let page = location.pathname;
  let isOther = false; // whether the entry that was opened last is of another page than the one before
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
  if (!location.hash) history.replaceState(history.state, "", location.pathname + location.search + hash);
  keepPart(false, search);
}

/**
 * @param {boolean} orTop whether the page is shown from its top if the address names no part of it
 * @param {string} search of the address as it was opened: a choice that is the default is dropped from it
 */
function keepPart(orTop = false, search = location.search) {
  leave();
  if (location.hash) keep(part);
  else if (asked()) keep(question);
  else if (!lessonStop() && new URLSearchParams(search).has("part")) keep(choice);
  else if (orTop && (!lessonStop() || lessonStop() === stop)) keep(() => 0, REST_AT_TOP);
}

/** The stop of the lesson that is open; null without one. A stop has a place of its own: lessons/bar_arrival.js. */
function lessonStop() {
  const query = new URLSearchParams(location.search);
  return query.has("lesson") ? query.get("lesson_stop") : null;
}

/** The name of the question that the address asks first: `alike` of `predict=alike:3~shown`; none in a lesson. */
function asked() {
  const query = new URLSearchParams(location.search);
  const [, name] = /^([a-z]+)[.:]/.exec(query.get("predict") ?? "") ?? [];
  return query.has("lesson") ? undefined : name;
}

/**
 * Where the page is scrolled to so that the question of the address is in its middle, in px; its start if the question is on the
 * first screen; null while the question is not drawn.
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
 * Where the part that the address names begins, in px of the page: its heading, or until that is drawn, the box that keeps its place
 * (parts.py); null while neither is there.
 */
function part() {
  const name = location.hash.slice(1);
  const element = document.getElementById(name) ?? document.querySelector(`.unseen[data-part="${CSS.escape(name)}"]`);
  return element && pageScroller().scrollTop + element.getBoundingClientRect().top - headerHeight() - AIR;
}

/**
 * Where the choice of what to look at begins, `part` in the address, with the heading above it, in px of the page; its start if
 * the choice is in the upper third of the first screen; null while it is not drawn.
 */
function choice() {
  const picker = elementWithKey("part");
  if (!picker) return null;
  const { scrollTop, clientHeight } = pageScroller();
  const above = [...pageScroller().querySelectorAll("h2")].filter(
    (heading) => heading.compareDocumentPosition(picker) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  const top = scrollTop + (above.at(-1) ?? picker).getBoundingClientRect().top;
  return top < clientHeight / 3 ? 0 : top - headerHeight() - AIR;
}

/**
 * Scroll to a place until the page is at rest.
 *
 * @param {() => number | null} place
 * @param {number} rest ms without a change
 */
function keep(place, rest = REST) {
  leave();
  const start = performance.now();
  let since = start;
  let last = "";
  timer = setInterval(() => {
    const now = performance.now();
    const scroller = pageScroller();
    const wanted = place();
    if (wanted !== null) {
      const top = Math.max(0, Math.min(wanted, scroller.scrollHeight - scroller.clientHeight));
      if (Math.abs(scroller.scrollTop - top) > 1) scroller.scrollTo({ top, behavior: "instant" });
    }
    const state = `${wanted} ${scroller.scrollHeight} ${scroller.scrollTop}`;
    if (state !== last || wanted === null || isRunning()) since = now;
    last = state;
    if (now - since > rest || now - start > PATIENCE) leave();
  }, OFTEN);
}

function leave() {
  clearInterval(timer);
  timer = 0;
}
