// Shows the meaning of a glossary term. The marked terms of a page (pages/ui/term_links.py) are links that a person can point at,
// tap or focus. Any other mention in a sentence of the page can be pointed at or tapped, and a button in the bar at the top goes
// from one term to the next. The page is searched for mentions only then.

import { addToHeader, headerHeight, pageScroller } from "../../ui/compat.js";
import { make } from "../../ui/component.js";
import { allMentions, inOrder, isDrawn, isSentence, mentionsIn, rangeOf } from "./terms_mentions.js";
import { finder, termOf } from "./terms_words.js";

const REST = 150; // ms without a movement of the pointer before the word under it is searched
const MARKED = 'a[href^="#word-"]'; // term_links.py

/** @typedef {import("./terms_words.js").Names} Names */

/** `terms`: term in small letters → its meaning. @typedef {{ terms: Record<string, string>, names: Names, text: Record<string, string> }} Data */

/** @type {Data["terms"]} */
let terms = {};
/** @type {Names} */
let names = {};
let find = finder(names);
let resting = 0;
/** The term that is pointed at, tapped or focused. @type {Range | null} */
let told = null;
/** The term that the button went to last. @type {Range | null} */
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
  for (const type of ["pointerover", "focusin"]) addEventListener(type, (event) => onTip(event) || show(markedAt(event)), true);
  addEventListener("click", press, true);
  addEventListener("pointermove", follow, { capture: true, passive: true });
  for (const type of ["scroll", "resize"]) addEventListener(type, place, { capture: true, passive: true });
  addEventListener("keydown", ({ key }) => key === "Escape" && show(null), true);
  walk.addEventListener("click", goOn);
}

/** @param {Data} data */
function take(data) {
  ({ terms, names } = data);
  find = finder(names);
  walk.replaceChildren(data.text.walk);
  for (const name of ["title", "aria-label"]) walk.setAttribute(name, data.text.walk_help);
  if (!walk.isConnected) addToHeader(walk, heard);
}

/** Explain the next term below the top of the screen, each term once. After the last term of the page, start again at the first. */
function goOn() {
  const words = allMentions(find)
    .filter(({ word }) => isDrawn(word))
    .sort((one, other) => inOrder(one.word, other.word));
  const after = walked && isDrawn(walked) && isOnScreen(walked) ? walked : null;
  const next = words.find(({ term, word }) => {
    const { top } = word.getBoundingClientRect();
    return !visited.has(term) && (after ? inOrder(word, after) > 0 : top >= headerHeight());
  });
  if (!next) visited.clear();
  const { term, word } = next ?? words[0] ?? {};
  if (!term || !word) return;
  walked = word;
  visited.add(term);
  if (!isOnScreen(word)) word.startContainer.parentElement?.scrollIntoView({ block: "center" });
  show(word);
  say(word);
}

/** @param {Range} word */
function isOnScreen(word) {
  const { top, bottom } = word.getBoundingClientRect();
  return top >= headerHeight() && bottom <= innerHeight;
}

/** @param {Event} event */
function onTip({ target }) {
  return target instanceof Node && tip.contains(target);
}

/**
 * The marked term that an event happened on; null without one.
 *
 * @param {Event} event
 */
function markedAt(event) {
  const link = event.target instanceof Element ? event.target.closest(MARKED) : null;
  if (!link) return null;
  const word = new Range();
  word.selectNodeContents(link);
  if (event.type === "focusin") say(word);
  return word;
}

/** @param {Event} event */
function press(event) {
  if (onTip(event)) return;
  const marked = markedAt(event);
  if (marked) event.preventDefault(); // the address of the link is no place on the page
  show(marked ?? mentionAt(event.composedPath()[0], /** @type {PointerEvent} */ (event)));
}

/**
 * The mention of a term at a point of the screen, in an element; null without one.
 *
 * @param {EventTarget} element
 * @param {{ clientX: number, clientY: number }} point
 */
function mentionAt(element, { clientX, clientY }) {
  if (!(element instanceof Element) || !isSentence(element)) return null;
  for (const text of element.childNodes) {
    if (!(text instanceof Text)) continue;
    for (const { start, end } of mentionsIn(text, find)) {
      const range = rangeOf(text, start, end);
      if ([...range.getClientRects()].some((part) => holds(part, clientX, clientY))) return range;
    }
  }
  return null;
}

/**
 * @param {DOMRect} area
 * @param {number} x
 * @param {number} y
 */
function holds({ left, right, top, bottom }, x, y) {
  return left <= x && x <= right && top <= y && y <= bottom;
}

/**
 * Search the word under the mouse after the mouse has stopped. While it moves, nothing is measured.
 *
 * @param {PointerEvent} event
 */
function follow(event) {
  clearTimeout(resting);
  const [target] = event.composedPath();
  if (event.pointerType === "touch" || event.buttons || onTip(event) || markedAt(event)) return;
  const byKey = document.activeElement === walk || document.activeElement?.matches(MARKED);
  if (told && !byKey && !holds(told.getBoundingClientRect(), event.clientX, event.clientY)) show(null);
  resting = setTimeout(() => {
    const word = mentionAt(target, event);
    if (word) show(word);
  }, REST);
}

/** @param {Range} word */
function say(word) {
  heard.textContent = `${word}: ${terms[termOf(word.toString(), names) ?? ""]}`;
}

/**
 * Show the meaning of a term below it, or hide it.
 *
 * @param {Range | null} word
 */
function show(word) {
  clearTimeout(resting); // otherwise the word under a mouse that has just stopped is shown after Escape
  told = word;
  const term = word && termOf(word.toString(), names);
  tip.textContent = term ? terms[term] : "";
  if (term) pageScroller().append(tip);
  else tip.remove();
  place();
}

/** Move the tip below its term, or above it if there is no room below. */
function place() {
  if (!told) return;
  if (!told.startContainer.isConnected) return show(null);
  const [{ left, top, bottom }, { offsetWidth: wide, offsetHeight: high }] = [told.getBoundingClientRect(), tip];
  const below = bottom + high < innerHeight || top - high < headerHeight();
  tip.style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - wide - 8))}px`;
  tip.style.top = `${below ? bottom : top - high}px`;
}
