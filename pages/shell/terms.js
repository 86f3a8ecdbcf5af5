// What a term of the glossary means, wherever a sentence of the page has it: read by pointing at it or by a tap, and, where it is
// first set in bold, with the keyboard.

import {
  boldWords,
  componentRoots,
  elementWithKey,
  headerHeight,
  isInSentence,
  pageScroller,
  sentences,
} from "../ui/compat.js";
import { make } from "../ui/component.js";
import { finder, termOf } from "./terms_words.js";

const QUIET = 300; // ms without a change of the page before it is looked through
const REST = 150; // ms that the pointer rests before the word under it is looked for
const MARK = "data-meaning"; // the attribute of a word that is marked as an element
const HIGHLIGHT = "term"; // the name by which the style sheets know the words that are marked without one
const OF_LESSON = ".say, .ask"; // what the bar of a lesson says

/** @typedef {import("./terms_words.js").Terms} Terms */

/** @type {Terms} */
let terms = {};
let find = finder(terms);
let timer = 0;
let resting = 0;
const observer = new MutationObserver(lookSoon);
/** What the word means that is pointed at, tapped or focused. @type {HTMLElement | null} */
let tip = null;
/** That word: it is no element where it is not set in bold, because the elements are Streamlit's. @type {Range | null} */
let told = null;
/** Where it is on screen. @type {DOMRect | null} */
let box = null;

/** @param {import("../ui/component.js").Mount<Terms>} mount */
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
}

/** @param {Terms} data */
function take(data) {
  terms = data;
  find = finder(terms);
  lookSoon();
}

function lookSoon() {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const bar = elementWithKey("lesson_bar");
    const said = bar ? [...componentRoots(bar)].filter((root) => root.matches(OF_LESSON)) : [];
    for (const root of [document.body, ...said.map((part) => part.getRootNode())])
      observer.observe(root, { childList: true, subtree: true, characterData: true });
    const inBold = said
      .flatMap((part) => [...part.querySelectorAll("strong")])
      .map((word) => termOf(word.textContent ?? "", terms));
    markPlain([...said, ...sentences()], new Set([...inBold, ...markBold()]));
  }, QUIET);
}

/** Mark the first bold mention of each term, and return those terms. Only attributes are set: the elements are Streamlit's. */
function markBold() {
  /** @type {Set<string>} */
  const met = new Set();
  for (const word of boldWords()) {
    const term = termOf(word.textContent ?? "", terms);
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

/**
 * Mark the first plain mention of each other term, where the browser can mark words that are no elements.
 *
 * @param {HTMLElement[]} within
 * @param {Set<string | undefined>} met the terms that are marked already
 */
function markPlain(within, met) {
  if (!("highlights" in CSS)) return;
  const first = new Highlight();
  for (const root of within) {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const fresh = mentions(text).filter(({ term }) => !met.has(term));
      if (!fresh.length || !isSentence(text.parentElement)) continue;
      for (const { term, start, end } of fresh) {
        if (!met.has(term)) first.add(rangeOf(text, start, end));
        met.add(term);
      }
    }
  }
  CSS.highlights.set(HIGHLIGHT, first);
}

/**
 * The terms that a text names. Code is one name, such as `<sos>` or the path of a tensor.
 *
 * @param {Node} text
 */
function mentions(text) {
  const words = text.nodeValue ?? "";
  const found = find(words);
  return text.parentElement?.tagName === "CODE" ? found.filter(({ start, end }) => end - start === words.length) : found;
}

/**
 * Whether an element holds words of the page's own, or of a lesson.
 *
 * @param {Element | null} element
 */
function isSentence(element) {
  return element !== null && (isInSentence(element) || (element.closest(OF_LESSON) !== null && !element.closest("button")));
}

/**
 * @param {Node} text
 * @param {number} start
 * @param {number} end
 */
function rangeOf(text, start, end) {
  const range = new Range();
  range.setStart(text, start);
  range.setEnd(text, end);
  return range;
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
    for (const { start, end } of mentions(text)) {
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
  if (box && !holds(box, event.clientX, event.clientY) && !document.activeElement?.hasAttribute(MARK)) show(null);
  if (isSentence(target) && !target.closest(`[${MARK}]`)) resting = setTimeout(() => show(mentionAt(target, event)), REST);
}

/**
 * Show what a word means; nothing for no word.
 *
 * @param {Range | null | undefined} word
 */
function show(word) {
  const same = word && told && word.startContainer === told.startContainer && word.startOffset === told.startOffset;
  if (word === undefined || same || (!word && !told)) return;
  told = word;
  box = null;
  tip ??= make("div", { class: "meaning", "aria-hidden": "true" }); // described, or in the list below the page
  const term = word && termOf(word.toString(), terms);
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
