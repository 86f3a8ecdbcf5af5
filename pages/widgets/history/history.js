// When a person moves a widget that is bound to the address, Streamlit replaces the current entry of the browser's history.
// When the app sets such a widget (another model brings its first example), it adds an entry for each one, half of them
// mixtures of before and after. Here both replace, so Back always leads to the page that was left, as it was left.
export default function () {
  if (history.tidy) return;
  history.tidy = true;
  const push = history.pushState.bind(history);
  history.pushState = (state, title, url) => {
    const samePage = url && new URL(url, location.href).pathname === location.pathname;
    return samePage ? history.replaceState(state, title, url) : push(state, title, url);
  };
}
