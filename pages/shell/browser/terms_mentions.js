// Finds the terms of the glossary in the texts of the page, of the open lesson and of components. Typed texts are left out.

import { elementWithKey, isInSentence, pageScroller, sentences, shadowRoots } from "../../ui/compat.js";

const OF_LESSON = ".say, .ask"; // the texts in the bar of a lesson
const OF_COMPONENT = "[data-words]"; // the app's own texts in a component, such as a title or a note

/** @typedef {(text: string) => import("./terms_words.js").Mention[]} Find */

/**
 * The elements within the components of a part of the page that a selector matches.
 *
 * @param {Element | null} place
 * @param {string} selector
 */
function inComponents(place, selector) {
  return place ? shadowRoots(place).flatMap((root) => [...root.querySelectorAll(selector)]) : [];
}

/**
 * Every mention of a term: in the lesson, in the sentences of the page and in its components.
 *
 * @param {Find} find
 * @returns {{ term: string, word: Range }[]}
 */
export function allMentions(find) {
  const ofLesson = inComponents(elementWithKey("lesson_bar"), OF_LESSON);
  const listed = [];
  for (const root of [...ofLesson, ...sentences(), ...inComponents(pageScroller(), OF_COMPONENT)]) {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const named = mentionsIn(text, find);
      if (!named.length || !isSentence(text.parentElement)) continue;
      for (const { term, start, end } of named) listed.push({ term, word: rangeOf(text, start, end) });
    }
  }
  return listed;
}

/**
 * The terms in a text. In code, such as `<sos>` or the path of a tensor, only the whole text can be a term.
 *
 * @param {Node} text
 * @param {Find} find
 */
export function mentionsIn(text, find) {
  const words = text.nodeValue ?? "";
  const named = find(words);
  return text.parentElement?.tagName === "CODE" ? named.filter(({ start, end }) => end - start === words.length) : named;
}

/**
 * Whether an element has text of the app or of a lesson, and not text that a person typed.
 *
 * @param {Element | null} element
 */
export function isSentence(element) {
  if (!element) return false;
  const ofLesson = element.closest(OF_LESSON) !== null && !element.closest("button");
  return isInSentence(element) || ofLesson || element.closest(OF_COMPONENT) !== null;
}

/**
 * @param {Node} text
 * @param {number} start
 * @param {number} end
 */
export function rangeOf(text, start, end) {
  const range = new Range();
  range.setStart(text, start);
  range.setEnd(text, end);
  return range;
}

/**
 * Whether a word is visible. It is not if a lesson covers the page.
 *
 * @param {Range} word
 */
export function isDrawn({ startContainer: { parentElement: element } }) {
  return element?.checkVisibility({ visibilityProperty: true, opacityProperty: true }) ?? false;
}

/**
 * Compares two words for `sort`, from top to bottom and from left to right.
 *
 * @param {Range} one
 * @param {Range} other
 */
export function inOrder(one, other) {
  const [{ top, left }, place] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
  return top - place.top || left - place.left;
}
