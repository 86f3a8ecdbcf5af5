// Shows the meaning of a term of the glossary. The server marks terms in the sentences of a page (pages/ui/term_links.py): a mark is
// a link that a person can point at, tap or focus. A button in the bar at the top goes from one term to the next.

import { addToHeader, headerHeight, pageScroller } from "../../ui/compat.js";
import { make } from "../../ui/component.js";

const ADDRESS = "#word-"; // term_links.py
const MARKED = `a[href^="${ADDRESS}"]`;

/** `terms`: term in small letters → its meaning. @typedef {{ terms: Record<string, string>, text: Record<string, string> }} Data */

/** @type {Data["terms"]} */
let terms = {};
/** The mark that is pointed at, tapped or focused. @type {HTMLAnchorElement | null} */
let told = null;
/** The mark that the button went to last. @type {HTMLAnchorElement | null} */
let walked = null;
/** The terms that the button has explained. @type {Set<string>} */
const visited = new Set();
const tip = make("div", { class: "meaning", "aria-hidden": "true" });
const walk = make("button", { type: "button", class: "next-word" });
/** The meaning of a focused term or of the button's term, for a screen reader. */
const heard = make("span", { class: "heard", role: "status" });

/** @param {import("../../ui/component.js").Mount<Data>} mount */
export default function mount({ data }) {
  // Streamlit may load this file again in the same window, with the terms of another language.
  dispatchEvent(new CustomEvent("headlight-terms", { detail: data }));
  if ("explainsTerms" in document) return;
  Object.assign(document, { explainsTerms: true });
  take(data);
  addEventListener("headlight-terms", (event) => event instanceof CustomEvent && take(event.detail));
  listen(window);
  for (const type of ["scroll", "resize"]) addEventListener(type, place, { capture: true, passive: true });
  addEventListener("keydown", ({ key }) => key === "Escape" && show(null), true);
  walk.addEventListener("click", goOn);
}

/** @param {Data} data */
function take(data) {
  terms = data.terms;
  walk.replaceChildren(data.text.walk);
  for (const name of ["title", "aria-label"]) walk.setAttribute(name, data.text.walk_help);
  addToHeader(walk, heard);
}

/** @param {EventTarget} place */
function listen(place) {
  for (const type of ["pointerover", "focusin", "click"]) place.addEventListener(type, look, true);
}

/** @param {HTMLAnchorElement} mark */
function termOf(mark) {
  return decodeURIComponent(mark.hash.slice(ADDRESS.length));
}

/**
 * Show the meaning of the mark that is pointed at, focused or pressed. Anywhere else, hide it.
 *
 * @param {Event} event
 */
function look(event) {
  const { target: outer, type } = event;
  // Moves within a component, such as the bar of a lesson, reach only its own root.
  if (outer instanceof Element && outer.shadowRoot) listen(outer.shadowRoot);
  const [target] = event.composedPath();
  if (!(target instanceof Element) || tip.contains(target) || walk.contains(target)) return;
  const mark = /** @type {HTMLAnchorElement | null} */ (target.closest(MARKED));
  if (mark && type === "click") event.preventDefault(); // the address of a mark is no place on the page
  if (mark && type === "focusin") say(mark);
  show(mark);
}

/** Explain the next term below the top of the screen, each term once. After the last term of the page, start again at the first. */
function goOn() {
  const marks = /** @type {HTMLAnchorElement[]} */ ([...pageScroller().querySelectorAll(MARKED)]).filter(isDrawn);
  const from = walked && isDrawn(walked) && isOnScreen(walked) ? marks.indexOf(walked) : -1;
  const next = marks.find((mark, index) => {
    return !visited.has(termOf(mark)) && (from >= 0 ? index > from : mark.getBoundingClientRect().top >= headerHeight());
  });
  if (!next) visited.clear();
  walked = next ?? marks[0] ?? null;
  if (!walked) return;
  visited.add(termOf(walked));
  if (!isOnScreen(walked)) walked.scrollIntoView({ block: "center" });
  show(walked);
  say(walked);
}

/**
 * Whether a mark is visible. It is not if a lesson covers the page.
 *
 * @param {HTMLElement} mark
 */
function isDrawn(mark) {
  return mark.checkVisibility({ visibilityProperty: true, opacityProperty: true });
}

/** @param {HTMLElement} mark */
function isOnScreen(mark) {
  const { top, bottom } = mark.getBoundingClientRect();
  return top >= headerHeight() && bottom <= innerHeight;
}

/** @param {HTMLAnchorElement} mark */
function say(mark) {
  heard.textContent = `${mark.textContent}: ${terms[termOf(mark)]}`;
}

/**
 * Show the meaning of a mark below it, or hide it.
 *
 * @param {HTMLAnchorElement | null} mark
 */
function show(mark) {
  told = mark;
  tip.textContent = mark ? terms[termOf(mark)] : "";
  if (mark) pageScroller().append(tip);
  else tip.remove();
  place();
}

/** Move the tip below its term, or above it if there is no room below. */
function place() {
  if (!told) return;
  if (!told.isConnected) return show(null);
  const [{ left, top, bottom }, { offsetWidth: wide, offsetHeight: high }] = [told.getBoundingClientRect(), tip];
  const below = bottom + high < innerHeight || top - high < headerHeight();
  tip.style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - wide - 8))}px`;
  tip.style.top = `${below ? bottom : top - high}px`;
}
