// Shows the meaning of a glossary term in any sentence of the page, if a person points at the term or taps it. With the keyboard,
// the first bold mention of a term can be focused, and a button in the bar at the top goes from one term to the next.

import { addToHeader, boldWords, headerHeight, pageScroller, shadowRoots } from "../../ui/compat.js";
import { make } from "../../ui/component.js";
import { allMentions, inOrder, isDrawn, isSame, isSentence, lessonWords, mentionsIn, rangeOf } from "./terms_mentions.js";
import { finder, termOf } from "./terms_words.js";

const QUIET = 300; // ms without a change of the page before the page is searched for terms
const REST = 150; // ms without a movement of the pointer before the word under it is searched
const MARK = "data-meaning"; // the attribute of a term that is an element
const HIGHLIGHT = "term"; // the name, in the style sheets, of the highlight for terms that are not elements

/** @typedef {import("./terms_words.js").Names} Names */

/** `terms`: term in small letters → its meaning. @typedef {{ terms: Record<string, string>, names: Names, text: Record<string, string> }} Data */

/** @type {Data["terms"]} */
let terms = {};
/** @type {Names} */
let names = {};
let find = finder(names);
let timer = 0;
let resting = 0;
const observer = new MutationObserver(lookSoon);
/** The element with the meaning of the term that is pointed at, tapped or focused. @type {HTMLElement | null} */
let tip = null;
/** That term. It is a range, because only a bold term has an element of its own. @type {Range | null} */
let told = null;
/** The rectangle of that term on screen. @type {DOMRect | null} */
let box = null;
/** The term that the button went to last. @type {Range | null} */
let walked = null;
/** The terms that the button has explained. @type {Set<string>} */
const visited = new Set();
const walk = make("button", { type: "button", class: "next-word" });
/** The meaning of that term, for a screen reader. */
const heard = make("span", { class: "heard", role: "status" });

/** @param {import("../../ui/component.js").Mount<Data>} mount */
export default function mount({ data }) {
  // Streamlit may load this file again in the same window, with the terms of another language.
  dispatchEvent(new CustomEvent("headlight-terms", { detail: data }));
  if ("explainsTerms" in document) return;
  Object.assign(document, { explainsTerms: true });
  take(data);
  addEventListener("headlight-terms", (event) => event instanceof CustomEvent && take(event.detail));
  for (const type of ["pointerover", "focusin"]) addEventListener(type, (event) => show(elementOf(event)), true);
  addEventListener("click", (event) => show(elementOf(event) ?? mentionAt(targetOf(event), event)), true);
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
  lookSoon();
}

function lookSoon() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const inLesson = lessonWords();
    for (const root of [document.body, ...inLesson.map((part) => part.getRootNode()), ...shadowRoots()])
      observer.observe(root, { childList: true, subtree: true, characterData: true });
    // In a lesson the words in bold can be pressed.
    const pressed = inLesson.flatMap((part) => [...part.querySelectorAll("strong")]);
    const met = new Set([...pressed.map((word) => termOf(word.textContent ?? "", names)), ...markBold()]);
    const first = [];
    for (const { term, word } of allMentions(find)) {
      if (!met.has(term)) first.push(word);
      met.add(term);
    }
    if ("highlights" in CSS) CSS.highlights.set(HIGHLIGHT, new Highlight(...first));
    walk.hidden = met.size === 0;
    if (!walk.isConnected) addToHeader(walk, heard);
  }, QUIET);
}

/** Mark the first bold mention of each term. Returns these terms. Sets only attributes, because Streamlit owns the elements. */
function markBold() {
  /** @type {Set<string>} */
  const met = new Set();
  for (const word of boldWords()) {
    const term = termOf(word.textContent ?? "", names);
    const says = term && !met.has(term) ? terms[term] : undefined;
    if (term) met.add(term);
    if (says === (word.getAttribute(MARK) ?? undefined)) continue;
    const marks = { [MARK]: says, "aria-description": says, class: "term", role: "button", tabindex: "0" };
    for (const [name, value] of Object.entries(marks)) {
      if (says && value) word.setAttribute(name, value);
      else word.removeAttribute(name);
    }
  }
  return met;
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
  heard.textContent = `${word}: ${terms[term]}`;
}

/** @param {Range} word */
function isOnScreen(word) {
  const { top, bottom } = word.getBoundingClientRect();
  return top >= headerHeight() && bottom <= innerHeight;
}

/** @param {Event} event */
function targetOf(event) {
  return event.composedPath()[0];
}

/**
 * The bold term that an event happened on. The tip stays open while the pointer is on the tip.
 *
 * @param {Event} event
 * @returns {Range | null | undefined} null without a term; undefined if nothing must change
 */
function elementOf({ target }) {
  if (!(target instanceof Element) || tip?.contains(target)) return undefined;
  const word = target.closest(`[${MARK}]`);
  return word?.firstChild ? rangeOf(word.firstChild, 0, word.textContent?.length ?? 0) : null;
}

/**
 * The mention of a term at a point of the screen, in an element; null without one, undefined if nothing must change.
 *
 * @param {EventTarget | undefined} element
 * @param {{ clientX: number, clientY: number }} point
 */
function mentionAt(element, { clientX, clientY }) {
  if (!(element instanceof Element) || !isSentence(element))
    return tip?.contains(/** @type {Node} */ (element)) ? undefined : null;
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
 * Search the term under the mouse after the mouse has stopped. While it moves, nothing is measured.
 *
 * @param {PointerEvent} event
 */
function follow(event) {
  clearTimeout(resting);
  const target = targetOf(event);
  if (event.pointerType === "touch" || event.buttons || !(target instanceof Element) || tip?.contains(target)) return;
  const byKey = document.activeElement === walk || document.activeElement?.hasAttribute(MARK);
  if (box && !holds(box, event.clientX, event.clientY) && !byKey) show(null);
  if (isSentence(target) && !target.closest(`[${MARK}]`)) resting = setTimeout(() => show(mentionAt(target, event)), REST);
}

/**
 * Show the meaning of a term.
 *
 * @param {Range | null | undefined} word null to hide the tip; undefined to change nothing
 */
function show(word) {
  if (word === undefined || (word && told && isSame(word, told)) || (!word && !told)) return;
  told = word;
  box = null;
  tip ??= make("div", { class: "meaning", "aria-hidden": "true" }); // described, or in the list below the page
  const term = word && termOf(word.toString(), names);
  tip.textContent = term ? terms[term] : "";
  if (term) pageScroller().append(tip);
  else tip.remove();
  place();
}

/** Move the tip below its term, or above it if there is no room below. */
function place() {
  if (!told || !tip) return;
  if (!told.startContainer.isConnected) return show(null);
  box = told.getBoundingClientRect();
  const [{ left, top, bottom }, { offsetWidth: wide, offsetHeight: high }] = [box, tip];
  const below = bottom + high < innerHeight || top - high < headerHeight();
  tip.style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - wide - 8))}px`;
  tip.style.top = `${below ? bottom : top - high}px`;
}
