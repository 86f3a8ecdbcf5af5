// Shared by the components of the Home page.

// The address of a link; `more` fills the places in braces: { index: 1 } for "encoder.layers.{index}.output".
function address(link, more = {}) {
  const query = new URLSearchParams(link.base);
  for (const [name, value] of Object.entries(link.query)) {
    if (value) query.set(name, filled(value, more)); // what is empty is so anyway
  }
  const said = query.toString();
  return (link.page === "home" ? "." : link.page) + (said ? `?${said}` : "");
}

// A plain click opens the page in this session, any other is the browser's own. Streamlit offers that to no component, but it
// listens to the Back and Forward buttons: an address that is added to the history and announced as if they had been pressed is
// opened with all it holds, and without what an earlier visit chose.
function followed(event) {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  history.pushState({}, "", event.currentTarget.href);
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}
