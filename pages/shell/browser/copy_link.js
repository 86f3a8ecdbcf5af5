// A button at the top of the page that copies its address. The address has everything that was chosen on the page.

import { addToHeader, whenEntryOpens } from "../../ui/compat.js";
import { make } from "../../ui/component.js";

/**
 * @param {{ link: string, link_help: string, link_copied: string }} words
 */
export function offerLink({ link, link_help, link_copied }) {
  const button = make("button", { type: "button", class: "copy-link", title: link_help, "aria-live": "polite" }, link);
  const draw = () => {
    button.textContent = link;
    addToHeader(button);
  };
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(address());
      button.textContent = link_copied;
    } catch {
      // A page without https may not write to the clipboard.
      prompt(link_help, address());
    }
  });
  for (const type of ["blur", "pointerleave"]) button.addEventListener(type, draw);
  whenEntryOpens(draw);
  draw();
}

/** The address of the page. Only the name of a part is kept of its fragment: a teacher's has a secret. */
function address() {
  const { href, hash } = location;
  return document.getElementById(hash.slice(1)) ? href : href.slice(0, href.length - hash.length);
}
