// What a term of the glossary means, wherever a sentence of the page has it: read by pointing at it or by a tap; with the keyboard
// where it is first set in bold, and by a button in the bar at the top, which goes from one term of the page to the next.

import { addToHeader, boldWords, headerHeight, pageScroller, shadowRoots } from "../ui/compat.js";
import { make } from "../ui/component.js";
import { allMentions, inOrder, isDrawn, isSame, isSentence, lessonWords, mentionsIn, rangeOf } from "./terms_mentions.js";
import { finder, termOf } from "./terms_words.js";

const QUIET = 300; // ms without a change of the page before it is looked through
const REST = 150; // ms that the pointer rests before the word under it is looked for
const MARK = "data-meaning"; // the attribute of a word that is marked as an element
const HIGHLIGHT = "term"; // the name by which the style sheets know the words that are marked without one

/** @typedef {import("./terms_words.js").Names} Names */

/** `terms`: in small letters → what each means. @typedef {{ terms: Record<string, string>, names: Names, text: Record<string, string> }} Data */

/** @type {Data["terms"]} */
let terms = {};
/** @type {Names} */
let names = {};
let find = finder(names);
let timer = 0;
let resting = 0;
const observer = new MutationObserver(lookSoon);
/** What the word means that is pointed at, tapped or focused. @type {HTMLElement | null} */
let tip = null;
/** That word: it is no element where it is not set in bold, because the elements are Streamlit's. @type {Range | null} */
let told = null;
/** Where it is on screen. @type {DOMRect | null} */
let box = null;
/** The word that the button last went to. @type {Range | null} */
let walked = null;
/** The terms that it has explained. @type {Set<string>} */
const visited = new Set();
const walk = make("button", { type: "button", class: "next-word" });
/** What the word means that the button went to, for a screen reader. */
const heard = make("span", { class: "heard", role: "status" });

/** @param {import("../ui/component.js").Mount<Data>} mount */
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

/** Mark the first bold mention of each term, and return those terms. Only attributes are set: the elements are Streamlit's. */
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

/** Explain the next term: from the top of the screen to the end of the page, then from its start, each term once. */
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
 * The word marked as an element that an event is on; the tip itself stays open while it is pointed at.
 *
 * @param {Event} event
 * @returns {Range | null | undefined} undefined if nothing is to change
 */
function elementOf({ target }) {
  if (!(target instanceof Element) || tip?.contains(target)) return undefined;
  const word = target.closest(`[${MARK}]`);
  return word?.firstChild ? rangeOf(word.firstChild, 0, word.textContent?.length ?? 0) : null;
}

/**
 * The mention of a term in an element at a point of the screen.
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
 * Look for the word under a mouse once it rests; while it moves, nothing is measured.
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
 * Show what a word means; nothing for no word.
 *
 * @param {Range | null | undefined} word
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

/** Put what is shown below its word, or above it where there is no room. */
function place() {
  if (!told || !tip) return;
  if (!told.startContainer.isConnected) return show(null);
  box = told.getBoundingClientRect();
  const [{ left, top, bottom }, { offsetWidth: wide, offsetHeight: high }] = [box, tip];
  const below = bottom + high < innerHeight || top - high < headerHeight();
  tip.style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - wide - 8))}px`;
  tip.style.top = `${below ? bottom : top - high}px`;
}
