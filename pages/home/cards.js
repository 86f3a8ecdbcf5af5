// Cards that are links.

import { make, rootOf, unchanged, viewOf } from "../ui/component.js";
import { followLink, whenReleased } from "./links.js";

/** @typedef {{ title: string, says: string, small: string, link: import("./address.js").Link }} Card */

/** @typedef {{ cards: Card[], label: string, ordered: boolean }} Data */

/** @param {import("../ui/component.js").Mount<Data>} mount */
export default function cards({ data, parentElement }) {
  const root = rootOf(parentElement, "cards");
  const view = viewOf(root, () => /** @type {{ data?: Data }} */ ({}));
  if (unchanged(view.data, data, "cards", "label", "ordered")) return;
  view.data = data;
  const list = make(data.ordered ? "ol" : "ul", { "aria-label": data.label });
  for (const { title, says, small, link } of data.cards) {
    const anchor = make(
      "a",
      {},
      ...(small ? [make("span", { class: "small" }, small)] : []),
      make("span", { class: "title" }, title),
      make("span", { class: "says" }, ...withCode(says)),
    );
    followLink(anchor, link);
    list.append(make("li", {}, anchor));
  }
  whenReleased(() => root.replaceChildren(list));
}

/**
 * The parts of a text. Parts between backticks become code: "a `b` c" becomes "a ", <code>b</code>, " c".
 *
 * @param {string} text
 */
function withCode(text) {
  return text.split("`").map((part, index) => (index % 2 ? make("code", {}, part) : part));
}
