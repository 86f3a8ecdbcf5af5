// Enter in the box of the text runs it, as in a box of one line.

import { elementWithKey } from "../../ui/compat.js";

const TOUCH = matchMedia("(hover: none)"); // there, the keyboard on the screen would cover the page if the box kept the focus

/** Run the text with Enter, in this window. Streamlit reads a box of several lines when it loses the focus. */
export function runWithEnter() {
  addEventListener("keydown", (event) => {
    const box = event.target;
    if (event.key !== "Enter" || event.isComposing || !(box instanceof HTMLTextAreaElement)) return;
    if (!elementWithKey("source")?.contains(box)) return;
    event.preventDefault();
    box.blur();
    if (!TOUCH.matches) box.focus();
  });
}
