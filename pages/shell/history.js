// The browser's Back button leaves a page; it does not step through what was chosen on it. An address can name a part.

import { replaceWithinPage } from "../ui/compat.js";
import { keepAccessible } from "./access.js";
import { arriveAtParts } from "./arrival.js";

/** @param {import("../ui/component.js").Mount<{ scrollable: string }>} mount */
export default function mount({ data }) {
  replaceWithinPage();
  arriveAtParts();
  keepAccessible(data.scrollable);
}
