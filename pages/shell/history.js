// The browser's Back button leaves a page; it does not step through what was chosen on it.

import { replaceWithinPage } from "../ui/compat.js";

export default function mount() {
  replaceWithinPage();
}
