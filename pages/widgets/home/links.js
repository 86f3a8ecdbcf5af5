// Shared by the components of the Home page.

// The address of a link; `more` fills the places in braces: { index: 1 } for "encoder.layers.{index}.output".
function address(link, more = {}) {
  const query = new URLSearchParams(link.base);
  for (const [name, value] of Object.entries(resolved(link, more))) {
    if (value) query.set(name, value); // what is empty is so anyway
  }
  const said = query.toString();
  return (link.page === "home" ? "." : link.page) + (said ? `?${said}` : "");
}

// What a link chooses, its places filled.
function resolved(link, more) {
  return Object.fromEntries(Object.entries(link.query).map(([name, said]) => [name, filled(said, more)]));
}

// A plain click asks the server to open the page in this session; any other is the browser's own.
function followed(event, link, more, setTriggerValue) {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  setTriggerValue("go", { page: link.page, query: resolved(link, more) });
}
