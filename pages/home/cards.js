// Cards that are links.

import { followLink, whenReleased } from "./links.js";
import { make, unchanged, viewOf } from "../ui/component.js";

export default function cards({ data, parentElement }) {
  const root = parentElement.querySelector(".cards");
  const view = viewOf(root, () => ({}));
  if (unchanged(view.data, data, "cards", "label", "ordered")) return;
  view.data = data;
  const list = make(data.ordered ? "ol" : "ul", { "aria-label": data.label });
  for (const { title, says, small, link } of data.cards) {
    const anchor = make(
      "a",
      {},
      ...(small ? [make("span", { class: "small" }, small)] : []),
      make("span", { class: "title" }, title),
      make("span", { class: "says" }, ...coded(says)),
    );
    followLink(anchor, link);
    list.append(make("li", {}, anchor));
  }
  whenReleased(() => root.replaceChildren(list));
}

// "a `b` c" → "a ", <code>b</code>, " c"
function coded(text) {
  return text.split("`").map((part, index) => (index % 2 ? make("code", {}, part) : part));
}
