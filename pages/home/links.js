// Links of the Home page's components.

import { openInSession } from "../ui/compat.js";
import { address } from "./address.js";

const CLICK_REACH = 12; // px between press and release of a click

/**
 * Make an anchor lead where a link leads.
 *
 * @param {HTMLAnchorElement} anchor
 * @param {import("./address.js").Link} link
 * @param {Record<string, unknown>} places see `address`
 */
export function followLink(anchor, link, places = {}) {
  anchor.href = address(link, places, (name) => link.base[name]);
  /** @type {PointerEvent | null} */
  let down = null;
  anchor.onpointerdown = (event) => {
    down = event;
    pressed = !event.button;
    // The page may move under a pressed button; the release still belongs to this link.
    if (pressed && event.pointerType === "mouse") anchor.setPointerCapture(event.pointerId);
  };
  anchor.onclick = (event) => {
    // A person who moves away before they let go has changed their mind.
    if (down && event.detail && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > CLICK_REACH) {
      event.preventDefault();
      return;
    }
    // What was typed since the map was drawn stands in the address already.
    const current = new URLSearchParams(location.search);
    anchor.href = address(link, places, (name) => current.get(name));
    // A plain click opens the page in this session; any other is the browser's own.
    if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    openInSession(anchor.href);
  };
}

// What is built anew under a pressed mouse button or a finger would lose the click. A finger that begins to scroll lets go too.
let pressed = false;
/** @type {(() => void)[]} */
const waiting = [];
for (const type of ["pointerup", "pointercancel"]) {
  addEventListener(
    type,
    () => {
      pressed = false;
      setTimeout(() => {
        for (const act of waiting.splice(0)) act();
      });
    },
    true,
  );
}

/**
 * Do something as soon as no link is pressed.
 *
 * @param {() => void} act
 */
export function whenReleased(act) {
  if (pressed) waiting.push(act);
  else act();
}
