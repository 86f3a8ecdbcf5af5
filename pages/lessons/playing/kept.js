// Stores a copy of the kept views in this tab of the browser (keeping.py). The copy survives a reload of the page and a restart
// of the server. It is deleted when the tab is closed.

const NAME = "kept views";

/**
 * @param {{
 *   data: { session: string, copy: string, read: boolean },
 *   setTriggerValue: (name: "restore", copy: string) => void,
 * }} component
 */
export default function mount({ data: { session, copy, read }, setTriggerValue }) {
  try {
    const before = JSON.parse(sessionStorage.getItem(NAME) ?? "{}");
    if (!read && before.copy && before.session !== session) setTriggerValue("restore", before.copy);
    else if (copy) sessionStorage.setItem(NAME, JSON.stringify({ session, copy }));
    else sessionStorage.removeItem(NAME);
  } catch {
    // A browser may forbid storage. Then the views last only as long as the session.
  }
}
