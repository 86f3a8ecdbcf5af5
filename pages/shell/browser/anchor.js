// Reports the anchor of the address to the server if it is in another part of the page than the open one, so that the server
// opens the part with the anchor (parts.py).

import { whenOpened } from "../../ui/compat.js";
import { rootOf, stopLastCall, stopLater, viewOf } from "../../ui/component.js";

/** @typedef {{ part: string, anchors: Record<string, string[]>, answered: string }} Data */

/** @param {import("../../ui/component.js").Mount<Data>} mount */
export default function mount({ data, parentElement, setTriggerValue }) {
  stopLastCall(parentElement);
  const view = viewOf(rootOf(parentElement, "anchor"), () => ({ reported: "" }));

  function report() {
    const anchor = location.hash.slice(1);
    const owners = Object.hasOwn(data.anchors, anchor) ? data.anchors[anchor] : null;
    if (!owners || owners.includes(data.part)) return;
    if (anchor !== view.reported) {
      view.reported = anchor;
      whenOpened(() => setTriggerValue("anchor", anchor));
      return;
    }
    // If the report was answered, the person has picked another part after it, so the address must name that part.
    const own = data.answered === anchor && Object.keys(data.anchors).find((name) => data.anchors[name].includes(data.part));
    if (own) history.replaceState(history.state, "", `#${own}`);
  }

  function reportAnew() {
    view.reported = "";
    report();
  }

  report();
  addEventListener("hashchange", reportAnew);
  return stopLater(parentElement, () => removeEventListener("hashchange", reportAnew));
}
