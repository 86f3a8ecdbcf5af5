// What covers the whole screen of a projector until its teacher goes on.

import { elementWithKey } from "./compat.js";

const SCREENS = ["class_tally_screen", "class_code_screen"]; // keys of the containers; the only button in each closes it

/** Close what covers the screen. Returns whether anything did. */
export function closeScreen() {
  const button = SCREENS.map((key) => elementWithKey(key)?.querySelector("button")).find(Boolean);
  button?.click();
  return Boolean(button);
}
