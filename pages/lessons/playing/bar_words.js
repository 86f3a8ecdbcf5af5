// The text of a lesson as elements: paragraphs, terms that can be clicked, and the answer sheet.

import { make } from "../../ui/component.js";

/** Pieces of text with their style. @typedef {[style: "" | "strong" | "em" | "code", text: string][]} Runs */
/** @typedef {[tag: "p" | "li", runs: Runs][]} Blocks */

/**
 * A table of all answers.
 *
 * @param {string[][]} lines each line has a stop and its three answers
 * @param {Record<string, string>} text
 */
export function answerSheet(lines, text) {
  const names = [text.sheet_stop, text.sheet_first, text.sheet_second, text.sheet_again];
  const head = make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name)));
  const rows = lines.map(([stop, ...answers]) =>
    make("tr", {}, make("th", { scope: "row" }, stop), ...answers.map((answer) => make("td", {}, answer))),
  );
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}

/**
 * Paragraphs and lists as elements.
 *
 * @param {Blocks} of
 */
export function blocks(of) {
  /** @type {HTMLElement[]} */
  const elements = [];
  for (const [tag, words] of of) {
    const element = make(tag, {}, ...runs(words));
    const last = elements[elements.length - 1];
    if (tag === "li" && last?.tagName === "UL") last.append(element);
    else elements.push(tag === "li" ? make("ul", {}, element) : element);
  }
  return elements;
}

/**
 * Pieces of text, each in an element of its style. The pieces are plain text, never markup.
 *
 * @param {Runs} of
 */
export function runs(of) {
  return of.map(([style, words]) => (style ? make(style, {}, words) : words));
}

/**
 * Turn a term into a button that shows its meaning below the paragraph.
 *
 * @param {HTMLElement} word
 * @param {string | undefined} meaning if it is missing, the term does not change
 */
export function explain(word, meaning) {
  if (!meaning) return;
  const button = make(
    "button",
    { type: "button", class: "term", title: meaning, "aria-expanded": "false" },
    word.textContent ?? "",
  );
  const says = make("span", { class: "meaning", role: "note" }, meaning);
  says.hidden = true;
  button.addEventListener("click", () => {
    says.hidden = !says.hidden;
    button.setAttribute("aria-expanded", String(!says.hidden));
  });
  word.replaceChildren(button);
  word.closest("p, li")?.append(says);
}
