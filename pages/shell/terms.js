// What a term of the glossary means, where it is set in bold on a page: read by pointing at it, by a tap, or with the keyboard.

import { boldWords, headerHeight, pageScroller } from "../ui/compat.js";
import { make } from "../ui/component.js";

const QUIET = 300; // ms without a change of the page before it is looked through
const MARK = "data-meaning"; // the attribute of a marked word

/** @typedef {Record<string, string>} Terms in small letters → what each means */

let timer = 0;
/** What the word means that is pointed at, tapped or focused. @type {HTMLElement | null} */
let tip = null;
/** That word. @type {Element | null} */
let told = null;

/** @param {import("../ui/component.js").Mount<Terms>} mount */
export default function mount({ data }) {
  // Streamlit may load this file again in the same window, with the terms of another language.
  Object.assign(document, { glossaryTerms: data });
  if ("explainsTerms" in document) return;
  Object.assign(document, { explainsTerms: true });
  new MutationObserver(lookSoon).observe(document.body, { childList: true, subtree: true, characterData: true });
  for (const type of ["pointerover", "focusin", "click"]) addEventListener(type, (event) => show(wordOf(event)), true);
  for (const type of ["scroll", "resize"]) addEventListener(type, place, { capture: true, passive: true });
  addEventListener("keydown", ({ key }) => key === "Escape" && show(null), true);
  lookSoon();
}

function lookSoon() {
  clearTimeout(timer);
  timer = setTimeout(markTerms, QUIET);
}

/** @returns {Terms} */
function terms() {
  return /** @type {Document & { glossaryTerms?: Terms }} */ (document).glossaryTerms ?? {};
}

/** Mark the first bold mention of each term. Only attributes are set: the elements are Streamlit's. */
function markTerms() {
  const met = new Set();
  for (const word of boldWords()) {
    const term = termOf(word.textContent ?? "");
    const says = term && !met.has(term) ? terms()[term] : undefined;
    if (term) met.add(term);
    if (says === (word.getAttribute(MARK) ?? undefined)) continue;
    const marks = { [MARK]: says, "aria-description": says, class: "term", role: "button", tabindex: "0" };
    for (const [name, value] of Object.entries(marks)) {
      if (says && value) word.setAttribute(name, value);
      else word.removeAttribute(name);
    }
  }
}

/**
 * The term that some words name, also in the plural or with an article; undefined for others.
 *
 * @param {string} words
 */
function termOf(words) {
  const name = words
    .trim()
    .toLowerCase()
    .replace(/^(the|a|an) /, "");
  return [name, name.replace(/s$/, "")].find((term) => Object.hasOwn(terms(), term));
}

/**
 * The marked word that an event is on; the tip itself stays open while it is pointed at.
 *
 * @param {Event} event
 * @returns {Element | null | undefined} undefined if nothing is to change
 */
function wordOf({ target }) {
  if (!(target instanceof Element)) return undefined;
  return tip?.contains(target) ? undefined : target.closest(`[${MARK}]`);
}

/**
 * Show what a word means; nothing for no word.
 *
 * @param {Element | null | undefined} word
 */
function show(word) {
  if (word === undefined || (word && word === told)) return;
  told = word;
  tip ??= make("div", { class: "meaning", "aria-hidden": "true" }); // the description of the word says it
  tip.textContent = word?.getAttribute(MARK) ?? "";
  if (word) pageScroller().append(tip);
  else tip.remove();
  place();
}

/** Put what is shown below its word, or above it where there is no room. */
function place() {
  if (!told || !tip) return;
  if (!told.isConnected) return show(null);
  const [{ left, top, bottom }, { offsetWidth: wide, offsetHeight: high }] = [told.getBoundingClientRect(), tip];
  const below = bottom + high < innerHeight || top - high < headerHeight();
  tip.style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - wide - 8))}px`;
  tip.style.top = `${below ? bottom : top - high}px`;
}
