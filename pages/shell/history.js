// The browser's Back button leaves a page; it does not step through what was chosen on it. An address can name a part.

import { replaceWithinPage } from "../ui/compat.js";
import { arriveAtParts } from "./arrival.js";

export default function mount() {
  replaceWithinPage();
  arriveAtParts();
}
