// Shared by the components of the Home page.

import { fillIn } from "../ui/component.js";

// Make an anchor lead where a link leads. `more` fills the places in braces: { index: 1 } for "encoder.layers.{index}.output".
export function followLink(anchor, link, more = {}) {
  anchor.href = address(link, more, (name) => link.base[name]);
  anchor.onpointerdown = (event) => (pressed = !event.button);
  anchor.onclick = (event) => {
    // What was typed since the map was drawn stands in the address already.
    const here = new URLSearchParams(location.search);
    anchor.href = address(link, more, (name) => here.get(name));
    followed(event, anchor.href);
  };
}

function address(link, more, kept) {
  const query = new URLSearchParams();
  const set = (name, value) => value && query.set(name, value); // what is empty is so anyway
  for (const name of Object.keys(link.base)) set(name, kept(name));
  for (const [name, value] of Object.entries(link.query)) set(name, fillIn(value, more));
  const said = query.toString();
  return (link.page === "home" ? "." : link.page) + (said ? `?${said}` : "");
}

// A plain click opens the page in this session, any other is the browser's own. Streamlit offers that to no component, but it
// listens to the Back and Forward buttons: an address that is added to the history and announced as if they had been pressed is
// opened with all it holds, and without what an earlier visit chose.
function followed(event, href) {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  // Streamlit first sends what was typed before the click: sent later, it would lead back here.
  setTimeout(() => {
    history.pushState({}, "", href);
    dispatchEvent(new PopStateEvent("popstate", { state: {} }));
  });
}

// What is built anew under a pressed mouse button or a finger would lose the click. A finger that begins to scroll lets go too.
let pressed = false;
const waiting = [];
for (const type of ["pointerup", "pointercancel"]) {
  addEventListener(type, () => {
    pressed = false;
    setTimeout(() => waiting.splice(0).forEach((act) => act()));
  }, true);
}

export function whenReleased(act) {
  if (pressed) waiting.push(act);
  else act();
}
