// Reports the anchor of the address to the server if it is in another part of the page than the open one, so that the server
// opens the part with the anchor (parts.py).

import { whenOpened } from "../../ui/compat.js";
import { rootOf, stopLastCall, stopLater, viewOf } from "../../ui/component.js";

/** @typedef {{ part: string, anchors: Record<string, string[]>, answered: string }} Data */

/** @param {import("../../ui/component.js").Mount<Data>} mount */
export default function mount({ data, parentElement, setTriggerValue }) {
  stopLastCall(parentElement);
  // The anchor that was reported last, and the one whose part this window has shown. If another report ends the run that opens
  // the part, the window never shows it, and the next run draws the part of before.
  const view = viewOf(rootOf(parentElement, "anchor"), () => ({ reported: "", shown: "" }));

  function report() {
    const anchor = location.hash.slice(1);
    const owners = Object.hasOwn(data.anchors, anchor) ? data.anchors[anchor] : null;
    if (!owners) return;
    if (owners.includes(data.part)) {
      view.shown = anchor;
    } else if (view.shown === anchor) {
      // The person has picked another part, so the address must name that part.
      const own = Object.keys(data.anchors).find((name) => data.anchors[name].includes(data.part));
      if (own) history.replaceState(history.state, "", `#${own}`);
    } else if (view.reported !== anchor || data.answered === anchor) {
      view.reported = anchor;
      whenOpened(() => setTriggerValue("anchor", anchor));
    }
  }

  function reportAnew() {
    Object.assign(view, { reported: "", shown: "" });
    report();
  }

  report();
  addEventListener("hashchange", reportAnew);
  return stopLater(parentElement, () => removeEventListener("hashchange", reportAnew));
}
