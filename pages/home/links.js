// Links of the Home page's components.

import { openInSession } from "../ui/compat.js";
import { address } from "./address.js";

const CLICK_REACH = 12; // px that the pointer may move between press and release of a click

/**
 * Let the anchors within an element open their pages. `data-link` of an anchor is the place of its link.
 *
 * @param {HTMLElement} element
 * @param {import("./address.js").Link[]} links
 * @param {Record<string, unknown>} places see `address`; an anchor has further ones
 */
export function followLinks(element, links, places = {}) {
  for (const anchor of /** @type {NodeListOf<HTMLAnchorElement>} */ (element.querySelectorAll("[data-link]"))) {
    followLink(anchor, links[Number(anchor.dataset.link)], { ...places, ...anchor.dataset });
  }
}

/**
 * Make an anchor open the page of a link.
 *
 * @param {HTMLAnchorElement} anchor
 * @param {import("./address.js").Link} link
 * @param {Record<string, unknown>} places
 */
function followLink(anchor, link, places) {
  anchor.href = address(link, places, (name) => link.base[name]);
  /** @type {PointerEvent | null} */
  let down = null;
  anchor.onpointerdown = (event) => {
    down = event;
    pressed = !event.button;
    // The page may move while the button is pressed. The release must still belong to this link.
    if (pressed && event.pointerType === "mouse") anchor.setPointerCapture(event.pointerId);
  };
  anchor.onclick = (event) => {
    // If the pointer moved away before the release, the visitor did not mean to click.
    if (down && event.detail && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > CLICK_REACH) {
      event.preventDefault();
      return;
    }
    // Texts that were typed after the map was drawn are already in the page's address.
    const current = new URLSearchParams(location.search);
    anchor.href = address(link, places, (name) => current.get(name));
    // A plain click opens the page in this session. The browser handles any other click.
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    openInSession(anchor.href);
  };
}

// An element that is replaced while a mouse button or a finger presses it would lose the click. A finger that begins to scroll
// releases the link too.
let pressed = false;
/** @type {(() => void)[]} */
const waiting = [];
const release = () => {
  pressed = false;
  setTimeout(() => {
    for (const act of waiting.splice(0)) act();
  });
};
for (const type of ["pointerup", "pointercancel"]) addEventListener(type, release, true);

/**
 * Call a function as soon as no link is pressed.
 *
 * @param {() => void} act
 */
export function whenReleased(act) {
  if (pressed) waiting.push(act);
  else act();
}
