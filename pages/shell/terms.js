// Shows the meaning of a glossary term in any sentence of the page, if a person points at the term or taps it. The first bold
// mention of a term can also be focused with the keyboard.

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

const QUIET = 300; // ms without a change of the page before the page is searched for terms
const REST = 150; // ms without a movement of the pointer before the word under it is searched
const MARK = "data-meaning"; // the attribute of a term that is an element
const HIGHLIGHT = "term"; // the name, in the style sheets, of the highlight for terms that are not elements
const OF_LESSON = ".say, .ask"; // the texts in the bar of a lesson

/** @typedef {import("./terms_words.js").Terms} Terms */

/** @type {Terms} */
let terms = {};
let find = finder(terms);
let timer = 0;
let resting = 0;
const observer = new MutationObserver(lookSoon);
/** The element with the meaning of the term that is pointed at, tapped or focused. @type {HTMLElement | null} */
let tip = null;
/** That term. It is a range, because only a bold term has an element of its own. @type {Range | null} */
let told = null;
/** The rectangle of that term on screen. @type {DOMRect | null} */
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

/** Mark the first bold mention of each term. Returns these terms. Sets only attributes, because Streamlit owns the elements. */
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
 * Mark the first plain mention of each other term, if the browser can highlight words that are not elements.
 *
 * @param {HTMLElement[]} within the elements to search
 * @param {Set<string | undefined>} met the terms that are already marked
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
 * The terms in a text. In code, such as `<sos>` or the path of a tensor, only the whole text can be a term.
 *
 * @param {Node} text
 */
function mentions(text) {
  const words = text.nodeValue ?? "";
  const found = find(words);
  return text.parentElement?.tagName === "CODE" ? found.filter(({ start, end }) => end - start === words.length) : found;
}

/**
 * Whether an element is in a sentence of the page, or in the text of a lesson and not in a button.
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
 * Search the term under the mouse after the mouse has stopped. While it moves, nothing is measured.
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
 * Show the meaning of a term.
 *
 * @param {Range | null | undefined} word null to hide the tip; undefined to change nothing
 */
function show(word) {
  const same = word && told && word.startContainer === told.startContainer && word.startOffset === told.startOffset;
  if (word === undefined || same || (!word && !told)) return;
  told = word;
  box = null;
  tip ??= make("div", { class: "meaning", "aria-hidden": "true" }); // screen readers read the description instead
  const term = word && termOf(word.toString(), terms);
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
