// Everything our scripts know of the insides of Streamlit and Plotly. Neither documents it; tests/pages/ui/test_compat_js.py
// tries each function by its name in a browser, so an upgrade that changes one of these says which.

/**
 * The element that holds a chart or a component drawn under a key. Streamlit names it by a class.
 *
 * @param {string} key as `key_class` of compat.py writes it, without `st-key-`
 * @returns {HTMLElement | null}
 */
export function elementWithKey(key) {
  return document.querySelector(`.st-key-${key}`);
}

/**
 * The element that scrolls the page.
 */
export function pageScroller() {
  return /** @type {HTMLElement} */ (document.querySelector(".stMain"));
}

/**
 * The height of the bar at the top, which covers what lies under it, in px; 0 where it is hidden.
 */
export function headerHeight() {
  return document.querySelector('[data-testid="stHeader"]')?.clientHeight ?? 0;
}

/**
 * The list of the navigation and its items. Streamlit puts groups between them, which a list must not have.
 */
export function navigationLists() {
  return document.querySelectorAll('[data-testid="stSidebarNavItems"], [data-testid="stSidebarNavItems"] li');
}

/**
 * Boxes within the page that scroll where what they hold is larger: formulas, code and tables.
 *
 * @returns {NodeListOf<HTMLElement>}
 */
export function scrollBoxes() {
  return pageScroller().querySelectorAll(".katex-display, .stCode pre, .stTable > div, .batch-rows");
}

/**
 * Whether the app is computing for this page.
 */
export function isRunning() {
  return document.querySelector('[data-testid="stStatusWidget"], [data-stale="true"]') !== null;
}

/**
 * The address that this window was opened with, with its part: Streamlit drops that when the app first writes an address.
 */
export function openedAt() {
  return performance.getEntriesByType("navigation")[0]?.name ?? location.href;
}

/**
 * The colour behind the page. Our elements are transparent, and a saved picture needs a ground.
 */
export function pageBackground() {
  return getComputedStyle(/** @type {Element} */ (document.querySelector(".stApp"))).backgroundColor;
}

/**
 * A colour of the theme, such as "primary-color". Streamlit sets them as CSS variables, also within a component.
 *
 * @param {Element} element
 * @param {string} name
 */
export function themeColor(element, name) {
  return getComputedStyle(element).getPropertyValue(`--st-${name}`);
}

/**
 * The `div`s of our components within an element. Streamlit puts each component into a shadow root, which selectors do not
 * enter.
 *
 * @param {Element} place
 * @returns {Generator<HTMLElement>}
 */
export function* componentRoots(place) {
  for (const element of place.querySelectorAll("*")) {
    if (element.shadowRoot) yield* element.shadowRoot.querySelectorAll("div");
  }
}

/**
 * @typedef {HTMLElement & {
 *   _fullLayout: { _modeBar: { buttons: { name: string, click: (chart: Element) => void }[][] } },
 *   _context: { toImageButtonOptions: Record<string, unknown> },
 *   layout: { paper_bgcolor: string },
 * }} PlotlyChart
 */

/**
 * The Plotly chart within an element.
 *
 * @param {Element} place
 * @returns {PlotlyChart | null}
 */
export function plotlyChart(place) {
  return place.querySelector(".js-plotly-plot");
}

/**
 * Save a chart as the camera above it does, with a format, a name and a ground of our own: Streamlit shares no Plotly with
 * us, so its button is the only way to Plotly's exporter.
 *
 * @param {PlotlyChart} chart
 * @param {string} format
 * @param {string} filename without its ending
 * @param {string} background
 */
export function saveChart(chart, format, filename, background) {
  const camera = chart._fullLayout._modeBar.buttons.flat().find((button) => button.name === "toImage");
  const { toImageButtonOptions: options } = chart._context;
  const { paper_bgcolor } = chart.layout;
  chart._context.toImageButtonOptions = { ...options, format, filename };
  chart.layout.paper_bgcolor = background;
  camera?.click(chart);
  chart._context.toImageButtonOptions = options;
  chart.layout.paper_bgcolor = paper_bgcolor;
}

/**
 * Open an address in this session, without loading the app anew. Streamlit offers that to no component, but it listens to
 * the Back and Forward buttons: an address that is added to the history and announced as if they had been pressed is opened
 * with all it holds, and without what an earlier visit chose.
 *
 * @param {string} href
 */
export function openInSession(href) {
  // Streamlit first sends what was typed before the click: sent later, it would lead back here.
  setTimeout(() => {
    history.pushState({}, "", withPresenting(href));
    dispatchEvent(new PopStateEvent("popstate", { state: {} }));
  });
}

/**
 * Do something whenever an address of the history is opened.
 *
 * @param {(byPerson: boolean) => void} act told whether by the Back or Forward button, not by `openInSession`
 */
export function whenAddressOpens(act) {
  addEventListener("popstate", ({ isTrusted }) => act(isTrusted));
}

/**
 * An address that presents if this page does.
 *
 * @param {string} href
 */
function withPresenting(href) {
  const address = new URL(href, location.href);
  if (new URLSearchParams(location.search).get("present") === "1") address.searchParams.set("present", "1");
  return address.href;
}

/**
 * Make Back leave a page, not step through what was chosen on it.
 *
 * When a person moves a widget that is bound to the address, Streamlit replaces the current entry of the browser's history.
 * When the app sets such a widget (another model brings its first example), it adds an entry for each one, half of them
 * mixtures of before and after. Here both replace, so Back always leads to the page that was left.
 *
 * On the way to another page Streamlit first takes what was chosen on the old one out of its address. Here that address is
 * put back before the next is added, so Back leads to the page as it was left.
 */
export function replaceWithinPage() {
  // Streamlit may load this file again in the same window.
  if ("replacesWithinPage" in history) return;
  Object.assign(history, { replacesWithinPage: true });
  const push = history.pushState.bind(history);
  /** @type {string | null} */
  let leaving = null; // the address a person was at when they clicked the link to another page
  addEventListener(
    "click",
    (event) => {
      const link = event.composedPath().find((element) => element instanceof HTMLAnchorElement && element.href);
      leaving = link instanceof HTMLAnchorElement && !isThisPage(link.href) ? location.href : null;
    },
    true,
  );
  const replace = history.replaceState.bind(history);
  history.replaceState = (state, title, url) => replace(state, title, withPart(url));
  history.pushState = (state, title, url) => {
    if (isThisPage(url)) return history.replaceState(state, title, url);
    if (leaving && isThisPage(leaving)) history.replaceState(history.state, "", leaving);
    leaving = null;
    return push(state, title, url);
  };
}

/**
 * An address with the part (`#head`) of the present one, if both are of this page: Streamlit drops it.
 *
 * @param {string | URL | null | undefined} url
 */
function withPart(url) {
  if (!url || !location.hash || !isThisPage(url)) return url;
  const address = new URL(url, location.href);
  address.hash ||= location.hash;
  return address.href;
}

/**
 * @param {string | URL | null | undefined} url
 */
function isThisPage(url) {
  return new URL(url ?? "", location.href).pathname === location.pathname;
}
