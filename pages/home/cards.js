// Cards that are links, which the server describes.

import { grown, rootOf, unchanged, viewOf } from "../ui/component.js";
import { followLinks, whenReleased } from "./links.js";

/** @typedef {{ list: import("../ui/component.js").Described, links: import("./address.js").Link[] }} Data */

/** @param {import("../ui/component.js").Mount<Data>} mount */
export default function cards({ data, parentElement }) {
  const root = rootOf(parentElement, "cards");
  const view = viewOf(root, () => /** @type {{ data?: Data }} */ ({}));
  if (unchanged(view.data, data, "list", "links")) return;
  view.data = data;
  const list = grown(data.list);
  followLinks(list, data.links);
  whenReleased(() => root.replaceChildren(list));
}
