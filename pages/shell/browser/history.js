// The browser's Back button undoes the last choice, and so does a button of the app. An address can name a part.

import { keepEntries } from "../../ui/compat.js";
import { keepAccessible } from "./access.js";
import { arriveAtParts } from "./arrival.js";
import { offerLink } from "./copy_link.js";
import { runWithEnter } from "./enter.js";
import { foldAtOnce } from "./folds.js";
import { showUndo } from "./undo.js";

/** @param {import("../../ui/component.js").Mount<Record<"scrollable" | "undo" | "undo_help" | "link" | "link_help" | "link_copied", string>>} mount */
export default function mount({ data }) {
  // Streamlit calls this in every run, and may load the file again in the same window.
  if ("headlightFrame" in document) return;
  Object.assign(document, { headlightFrame: true });
  keepEntries();
  arriveAtParts();
  showUndo(data.undo, data.undo_help);
  offerLink(data);
  keepAccessible(data.scrollable);
  foldAtOnce();
  runWithEnter();
}
