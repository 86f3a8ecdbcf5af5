// Opens a page at the part that its address names, `…/attention#head`, and Back at the place that was left.
//
// What stands above a part grows while the page is drawn. So the place is kept until the page is at rest, or until a person
// scrolls, types or presses.

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
const OFTEN = 100; // ms

/** @type {Map<number, number>} */
const places = new Map(); // number of an entry of the history → where its page was scrolled to when a person last acted
let timer = 0;

/** Follow the addresses of this window from now on. */
export function arriveAtParts() {
  // Streamlit may load this file again in the same window.
  if ("arrivesAtParts" in history) return;
  Object.assign(history, { arrivesAtParts: true });
  let here = entryNumber();
  const note = () => places.set(here, pageScroller().scrollTop);
  for (const type of ["pointerdown", "keydown", "click"]) addEventListener(type, note, { capture: true, passive: true });
  addEventListener("hashchange", keepPart);
  whenEntryOpens(() => {
    if (entryNumber() > here) places.delete(entryNumber());
    here = entryNumber();
  });
  whenAddressOpens((byPerson) => {
    const place = places.get(entryNumber());
    if (byPerson && place !== undefined) keep(() => place);
    else keepPart();
  });
  for (const type of ["wheel", "touchmove", "pointerdown", "keydown"])
    addEventListener(type, leave, { capture: true, passive: true });
  const { hash } = new URL(openedAt());
  if (!location.hash) history.replaceState(history.state, "", location.pathname + location.search + hash);
  keepPart();
}

function keepPart() {
  leave();
  if (location.hash) keep(part);
  else if (asked()) keep(question);
}

/** The name of the question that the address asks first: `alike` of `predict=alike:3~shown`. A lesson has its own places. */
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
 * Where the part that the address names begins, in px of the page; null while it is not drawn.
 */
function part() {
  const element = document.getElementById(location.hash.slice(1));
  return element && pageScroller().scrollTop + element.getBoundingClientRect().top - headerHeight() - AIR;
}

/**
 * Scroll to a place until the page is at rest.
 *
 * @param {() => number | null} place
 */
function keep(place) {
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
    if (now - since > REST || now - start > PATIENCE) leave();
  }, OFTEN);
}

function leave() {
  clearInterval(timer);
  timer = 0;
}
