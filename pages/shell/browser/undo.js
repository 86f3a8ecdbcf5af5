// A button at the top of the page that does the same as the browser's Back. It is hidden if there is nothing to undo.

import { addToHeader, entryNumber, whenEntryOpens } from "../../ui/compat.js";

/**
 * @param {string} label
 * @param {string} help
 */
export function showUndo(label, help) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "undo", textContent: label, title: help });
  button.addEventListener("click", () => history.back());
  const draw = () => {
    button.hidden = entryNumber() === 0;
    addToHeader(button);
  };
  whenEntryOpens(draw);
  draw();
}
