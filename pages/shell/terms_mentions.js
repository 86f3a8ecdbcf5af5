// Where the page, the lesson that is open and the components name terms of the glossary in words of their own.

import { componentRoots, elementWithKey, isInSentence, sentences, shadowRoots } from "../ui/compat.js";

const OF_LESSON = ".say, .ask"; // what the bar of a lesson says
const OF_COMPONENT = "[data-words]"; // what a component says in words of the page: a title, a note

/** @typedef {(text: string) => import("./terms_words.js").Mention[]} Find */

/** What the bar of a lesson says. */
export function lessonWords() {
  const bar = elementWithKey("lesson_bar");
  return bar ? [...componentRoots(bar)].filter((root) => root.matches(OF_LESSON)) : [];
}

/**
 * Every mention of a term that a person can read: in the lesson, in the sentences of the page, in its components.
 *
 * @param {Find} find
 * @returns {{ term: string, word: Range }[]}
 */
export function allMentions(find) {
  const inComponents = shadowRoots().flatMap((root) => [...root.querySelectorAll(OF_COMPONENT)]);
  const listed = [];
  for (const root of [...lessonWords(), ...sentences(), ...inComponents]) {
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
 * The terms that a text names. Code is one name, such as `<sos>` or the path of a tensor.
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
 * Whether an element holds words of the page's own, of a lesson or of a component.
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
 * @param {Range} one
 * @param {Range} other
 */
export function isSame(one, other) {
  return one.startContainer === other.startContainer && one.startOffset === other.startOffset;
}

/**
 * Whether a word is drawn: the page of a lesson's stop can be covered.
 *
 * @param {Range} word
 */
export function isDrawn({ startContainer: { parentElement: element } }) {
  return element?.checkVisibility({ visibilityProperty: true, opacityProperty: true }) ?? false;
}

/**
 * From top to bottom, and from left to right.
 *
 * @param {Range} one
 * @param {Range} other
 */
export function inOrder(one, other) {
  const [{ top, left }, place] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
  return top - place.top || left - place.left;
}
