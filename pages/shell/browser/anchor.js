// Opens the part with the anchor of the address, as the Back button would, if another part is open. So reports that no person
// asked for wait until the part is open (`whenOpened`).

import { openInSession, whenOpened } from "../../ui/compat.js";
import { rootOf, stopLastCall, stopLater, viewOf } from "../../ui/component.js";

/** @typedef {{ part: string, anchors: Record<string, string[]> }} Data parts as the address writes them */

/** @param {import("../../ui/component.js").Mount<Data>} mount */
export default function mount({ data, parentElement }) {
  stopLastCall(parentElement);
  // The anchor whose part was asked for last, and the one whose part this window has shown.
  const view = viewOf(rootOf(parentElement, "anchor"), () => ({ asked: "", shown: "" }));

  function open() {
    const anchor = location.hash.slice(1);
    const owners = Object.hasOwn(data.anchors, anchor) ? data.anchors[anchor] : null;
    if (!owners) return;
    if (owners.includes(data.part)) view.shown = anchor;
    else if (view.shown === anchor) {
      // The person has picked another part, so the address must name that part.
      const own = Object.keys(data.anchors).find((name) => data.anchors[name].includes(data.part));
      if (own) history.replaceState(history.state, "", `#${own}`);
    } else if (view.asked !== anchor) {
      view.asked = anchor;
      const address = new URL(location.href);
      address.searchParams.set("part", owners[0]);
      whenOpened(() => openInSession(address.href, true));
    }
  }

  function openAnew() {
    Object.assign(view, { asked: "", shown: "" });
    open();
  }

  open();
  addEventListener("hashchange", openAnew);
  return stopLater(parentElement, () => removeEventListener("hashchange", openAnew));
}
