// When a person moves a widget that is bound to the address, Streamlit replaces the current entry of the browser's history.
// When the app sets such a widget (another model brings its first example), it adds an entry for each one, half of them
// mixtures of before and after. Here both replace, so Back always leads to the page that was left.
//
// On the way to another page Streamlit first takes what was chosen on the old one out of its address. Here that address is put
// back before the next is added, so Back leads to the page as it was left.
export default function () {
  if (history.tidy) return;
  history.tidy = true;
  const push = history.pushState.bind(history);
  const samePage = (url) => new URL(url ?? "", location.href).pathname === location.pathname;
  let left = null; // the address a person was at when they clicked the link to another page
  const remember = (event) => {
    const link = event.composedPath().find((element) => element.href);
    left = link && !samePage(link.href) ? location.href : null;
  };
  addEventListener("click", remember, true);
  history.pushState = (state, title, url) => {
    if (samePage(url)) return history.replaceState(state, title, url);
    if (left && samePage(left)) history.replaceState(history.state, "", left);
    left = null;
    return push(state, title, url);
  };
}
