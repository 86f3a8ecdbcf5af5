// Stores a text in this tab of the browser, and reports the text that the tab had before this session (tab_memory.py), or that
// the browser forbids storage. The text survives a reload and a restart of the server. It is deleted when the tab is closed.

import { openedWith, whenOpened } from "./compat.js";

/**
 * @param {{
 *   data: { name: string, session: string, text: string, recalled: boolean, waits: boolean, linked: boolean, asked: number },
 *   setTriggerValue: (name: "recall", stored: { text: string, forbidden: boolean }) => void,
 * }} component
 */
export default function mount({ data: { name, session, text, recalled, waits, linked }, setTriggerValue }) {
  let [before, forbidden] = [linked ? openedWith(name) : "", false];
  try {
    const stored = JSON.parse(sessionStorage.getItem(name) ?? "{}");
    if (!before && stored.session !== session) before = stored.text ?? "";
    if (recalled || !(before || waits)) {
      if (text) sessionStorage.setItem(name, JSON.stringify({ session, text }));
      else sessionStorage.removeItem(name);
    }
  } catch {
    forbidden = true; // the text lasts only as long as the session
  }
  if (!recalled && (before || waits || forbidden)) whenOpened(() => setTriggerValue("recall", { text: before, forbidden }));
}
