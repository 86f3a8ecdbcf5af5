// Keeps a copy of the kept views in this tab of the browser (keeping.py): it outlives a page that is loaded again, and a server
// that starts anew, and is gone with the tab.

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
    // A browser may refuse to store anything; then the views live as long as the session.
  }
}
