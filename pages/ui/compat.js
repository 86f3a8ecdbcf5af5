// All code of our scripts that depends on undocumented parts of Streamlit. tests/pages/ui/test_compat_js.py calls each
// function in a browser, so if an upgrade breaks one of them, a test names it. Nothing of Streamlit or the browser is
// replaced here: the functions read elements, listen to events and call what a page may call. `Why` is the fault without one.

/**
 * The element of a chart or a component drawn under a key. Streamlit gives it a class with the key.
 * Why: a lesson, a link and “Save” must find the picture that they are about, and components do not see the page.
 *
 * @param {string} key as `key_class` of compat.py writes it, without `st-key-`
 * @returns {HTMLElement | null}
 */
export function elementWithKey(key) {
  return document.querySelector(`.st-key-${key}`);
}

/**
 * The element that scrolls the page.
 * Why: Streamlit scrolls an element instead of the window, and does not reset it when another page is opened.
 */
export function pageScroller() {
  return /** @type {HTMLElement} */ (document.querySelector(".stMain"));
}

/**
 * The height in px of the bar at the top, which covers the page below it; 0 if the bar is hidden.
 * Why: otherwise a part that was scrolled to is under this bar.
 */
export function headerHeight() {
  return document.querySelector('[data-testid="stHeader"]')?.clientHeight ?? 0;
}

/**
 * The sidebar; null before it is drawn.
 * Why: while a page is presented, the key S moves the focus into it.
 */
export function sidebar() {
  return document.querySelector('[data-testid="stSidebar"]');
}

/**
 * The list of the navigation and its items. Streamlit puts groups between the list and its items, which HTML does not allow.
 * Why: a screen reader announces a list without items.
 */
export function navigationLists() {
  return document.querySelectorAll('[data-testid="stSidebarNavItems"], [data-testid="stSidebarNavItems"] li');
}

/**
 * The sidebar's `details` element if the target of an event is in the heading of one; otherwise null.
 * Why: the examples unfold below the screen, where nobody sees them.
 *
 * @param {Event} event
 * @returns {HTMLDetailsElement | null}
 */
export function sidebarFold(event) {
  const [target] = event.composedPath();
  const heading = target instanceof Element ? target.closest('[data-testid="stSidebar"] summary') : null;
  return heading?.closest("details") ?? null;
}

const SCROLL_BOXES = ".katex-display, .stCode pre, .stTable > div, .batch-rows";

/**
 * Boxes within the page that scroll if their contents are larger: formulas, code and tables. A chart has the focus anyway.
 * Why: Streamlit does not make them focusable, so without a mouse their right side cannot be read.
 *
 * @returns {NodeListOf<HTMLElement>}
 */
export function scrollBoxes() {
  return pageScroller().querySelectorAll(SCROLL_BOXES);
}

/**
 * What can become larger in such a box without a change of the box: what it holds; in a formula, its terms.
 *
 * @param {Element} box
 */
export function partsOfScrollBox(box) {
  return box.querySelectorAll(":scope > *, .base");
}

/**
 * The box that scrolls a part of it, or the part if it is the box.
 *
 * @param {Element} part
 * @returns {HTMLElement | null}
 */
export function scrollBoxOf(part) {
  return part.closest(SCROLL_BOXES);
}

/**
 * The address that this window was opened with, including its part (`#head`). A part with a value is left out (`openedWith`).
 * Why: Streamlit drops the part when the app first writes an address, which is before our scripts are loaded.
 */
export function openedAt() {
  return openedAddress().replace(/#.*=.*/, "");
}

/**
 * The value that a name has after the `#` of the address that this window was opened with. The value is removed from the present
 * address, which other people can see.
 *
 * @param {string} name
 */
export function openedWith(name) {
  if (location.hash.includes("=")) history.replaceState(history.state, "", location.pathname + location.search);
  return new URLSearchParams(new URL(openedAddress()).hash.slice(1)).get(name) ?? "";
}

function openedAddress() {
  return performance.getEntriesByType("navigation")[0]?.name ?? location.href;
}

/**
 * The colour behind the page.
 * Why: our elements are transparent, and a saved picture needs a background.
 */
export function pageBackground() {
  return getComputedStyle(/** @type {Element} */ (document.querySelector(".stApp"))).backgroundColor;
}

/**
 * A colour of the theme, such as "primary-color". Streamlit sets these colours as CSS variables, also within a component.
 * Why: a canvas cannot use CSS variables.
 *
 * @param {Element} element
 * @param {string} name
 */
export function themeColor(element, name) {
  return getComputedStyle(element).getPropertyValue(`--st-${name}`);
}

/**
 * The shadow roots of the components within an element. Streamlit puts each component into one, which selectors do not enter.
 * Why: “Save” and the keys of a clicker reach into components.
 *
 * @param {Element} place
 */
export function shadowRoots(place) {
  return [...place.querySelectorAll("*")].flatMap((element) => element.shadowRoot ?? []);
}

/**
 * Open an address in this session, without loading the app again. Streamlit has no function for this, but it listens to the
 * Back and Forward buttons. So this function adds the address to the history and sends the event of these buttons. Streamlit
 * then opens the address with all its parameters, and without choices of an earlier visit.
 *
 * @param {string} href
 * @param {boolean} [instead] whether the address replaces the present one, because no person requested it. Back then does not
 *   lead to the present address.
 */
export function openInSession(href, instead = false) {
  const at = entries();
  // A message of the meantime would be sent after the address (`whenOpened`).
  if (asksServer(withPresenting(href))) at.opening = at.leaving = true;
  // Streamlit must first send the text that was typed before the click, because a later message would lead back to this address.
  setTimeout(() => {
    at.leaving = false;
    // A choice whose run this address interrupts, such as the start of a lesson, is an entry all the same.
    const isChoice = at.reported && at.settled !== location.href;
    if (instead && !isChoice) {
      write("replaceState", at.entry, withPresenting(href));
      dispatchEvent(new Event(ENTRY_EVENT));
    } else {
      if (instead) write("replaceState", at.entry, at.settled);
      addEntry(withPresenting(href));
    }
    dispatchEvent(new PopStateEvent("popstate", { state: {} }));
  });
}

/**
 * Call a function whenever an address of the history is opened.
 *
 * @param {(byPerson: boolean) => void} act called with true for the Back or Forward button, and with false for `openInSession`
 */
export function whenAddressOpens(act) {
  addEventListener("popstate", ({ isTrusted }) => act(isTrusted));
}

/** Whether this page is presented, on a projector. */
export function isPresented() {
  return new URLSearchParams(location.search).get("present") === "1";
}

/**
 * An address, with `present=1` if this page is presented.
 *
 * @param {string} href
 */
function withPresenting(href) {
  const address = new URL(href, location.href);
  if (isPresented()) address.searchParams.set("present", "1");
  return address.href;
}

const ENTRY_EVENT = "headlight-entry"; // another entry of the history is open
const OPENED_EVENT = "headlight-opened"; // the server has opened an address of the history

/**
 * The entries of this window's history: the number of the open one; its address when the server last reported; how many choices
 * the server had counted by then; and whether it has reported since this address was opened. `own` is true while this file
 * changes the address. `opening` is true from the opening of an address of the history until the server has reported that it has
 * opened it; `openings` is how many it had opened before. `leaving` is true until `openInSession` has asked for its address: a
 * report of the meantime is of the address before.
 *
 * Kept in the window, because several components load this file.
 *
 * @returns {{
 *   entry: number, settled: string, count: number, reported: boolean, own: boolean, opening: boolean, openings: number,
 *   leaving: boolean, query: string,
 * }}
 */
function entries() {
  const kept = /** @type {{ headlight?: ReturnType<typeof entries> }} */ (/** @type {unknown} */ (history));
  const counts = { entry: entryNumber(), count: 0, openings: 0 };
  const states = { reported: false, own: false, opening: false, leaving: false };
  kept.headlight ??= { ...counts, ...states, settled: location.href, query: queryOf(location) };
  return kept.headlight;
}

/**
 * Let Streamlit change only the open entry of the history while a page is open, so that `reportChoices` alone adds an entry.
 *
 * By default, a widget that is bound to the address replaces the open entry, so Back skips it; and each parameter that the app
 * sets adds an entry, so a page opens with up to four, of which Back shows the half-written ones. Before Streamlit opens another
 * page, it removes the parameters of the old page from the address; the entry of the old page gets them back here.
 *
 * In a browser without the Navigation API (Firefox before 147, Safari before 26.2), Back does what Streamlit's own does. Call it
 * once in a window.
 */
export function keepEntries() {
  if (!("navigation" in window)) return;
  const at = entries();
  write("replaceState", at.entry, location.href);
  navigation.addEventListener("navigate", (event) => {
    const { navigationType, hashChange, destination } = event;
    const isStreamlit = !at.own && !hashChange && destination.sameDocument && navigationType !== "traverse";
    if (!isStreamlit || !event.cancelable) return;
    event.preventDefault();
    if (isThisPage(destination.url)) {
      write("replaceState", at.entry, withPart(destination.url));
    } else {
      write("replaceState", at.entry, at.settled);
      addEntry(destination.url);
    }
  });
  addEventListener(
    "popstate",
    ({ isTrusted }) => {
      // After a click on a link to a part of the page, the browser has added an entry without a number.
      if (isTrusted && typeof history.state?.entry !== "number") write("replaceState", at.entry + 1, location.href);
      if (asksServer(location.href)) at.opening = true;
      Object.assign(at, { settled: location.href, reported: false, query: queryOf(location) });
      if (isTrusted) open(entryNumber());
    },
    true,
  );
  addEventListener("chart-tells", (event) => {
    if (!at.opening || !(event instanceof CustomEvent)) return;
    event.preventDefault();
    whenOpened(event.detail);
  });
}

/**
 * The path of the page that the server has drawn, which is empty for the first page; and how many choices the server has counted
 * in this session (history.py): all, and those before this address was opened; the parameters of the address; and how many
 * addresses of the history it has opened.
 *
 * @typedef {{ path: string, count: number, opened: number, address: string, openings: number }} Choices
 */

/**
 * Make Back undo the last choice. Call it at the end of each run that changed the address.
 *
 * @param {Choices} choices
 */
export function reportChoices({ path, count, opened, address: query, openings }) {
  const at = entries();
  // A report that comes late is of a page that was left, or of the address before.
  if (location.pathname.split("/").at(-1) !== path) return;
  if (at.opening && openings === at.openings && sorted(query) !== sorted(location.search)) return;
  Object.assign(at, { opening: at.leaving, openings });
  if (!at.opening) dispatchEvent(new Event(OPENED_EVENT));
  const address = location.href;
  if (count > Math.max(at.count, opened) && address !== at.settled && "navigation" in window) {
    write("replaceState", at.entry, at.settled);
    addEntry(address);
  }
  at.count = count;
  at.settled = address;
  at.reported = true;
}

/**
 * @param {"pushState" | "replaceState"} how
 * @param {number} entry
 * @param {string} url
 */
function write(how, entry, url) {
  const at = entries();
  at.own = true;
  history[how]({ entry }, "", url);
  at.own = false;
  at.query = queryOf(location);
}

/** @param {string} url */
function addEntry(url) {
  write("pushState", entries().entry + 1, url);
  Object.assign(entries(), { settled: location.href, reported: false });
  open(entryNumber());
}

/** @param {number} entry */
function open(entry) {
  entries().entry = entry;
  dispatchEvent(new Event(ENTRY_EVENT));
}

/**
 * The number of the open entry of the history. The app's first entry in this window is 0.
 *
 * @returns {number}
 */
export function entryNumber() {
  return history.state?.entry ?? 0;
}

/**
 * Call a function whenever another entry of the history is open, either a new or an earlier one.
 *
 * @param {() => void} act
 */
export function whenEntryOpens(act) {
  addEventListener(ENTRY_EVENT, act);
}

/**
 * Call a function once no address of the history is being opened, which is mostly at once. Returns a function that forgets it.
 * Why: a message that no person asked for would interrupt the run that opens the address. The browser would not get the values that
 * the address gives to widgets, and the next run would take their old values for choices. With four busy processes beside it, this
 * lost the view of a lesson's stop in 4 of 14 openings.
 *
 * @param {() => void} act
 */
export function whenOpened(act) {
  if (entries().opening) addEventListener(OPENED_EVENT, act, { once: true });
  else act();
  return () => removeEventListener(OPENED_EVENT, act);
}

/**
 * Whether Streamlit asks the server for an address that is opened: not if only the part (`#head`) differs from the present one.
 *
 * @param {string} url
 */
function asksServer(url) {
  const address = new URL(url);
  return !address.hash || queryOf(address) !== entries().query;
}

/** @param {Location | URL} address */
function queryOf({ pathname, search }) {
  return pathname + search;
}

/**
 * The parameters of an address in an order of their own.
 *
 * @param {string} query
 */
function sorted(query) {
  const parameters = new URLSearchParams(query);
  parameters.sort();
  return parameters.toString();
}

/**
 * Put elements at the right end of the bar at the top, before Streamlit's menu, unless they are on the page.
 * Why: Streamlit has no place for a button that stays on screen on every page.
 *
 * @param {...Element} elements
 */
export function addToHeader(...elements) {
  if (!elements[0].isConnected) document.querySelector('[data-testid="stToolbarActions"]')?.before(...elements);
}

/**
 * An address of this page with the part (`#head`) of the present address, because Streamlit drops it.
 *
 * @param {string} url
 */
function withPart(url) {
  const address = new URL(url, location.href);
  address.hash ||= location.hash;
  return address.href;
}

/**
 * @param {string} url
 */
function isThisPage(url) {
  return new URL(url, location.href).pathname === location.pathname;
}
