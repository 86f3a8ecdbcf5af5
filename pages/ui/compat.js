// All code of our scripts that depends on undocumented parts of Streamlit and Plotly. tests/pages/ui/test_compat_js.py calls each
// function in a browser, so if an upgrade breaks one of them, a test names it.

/**
 * The element of a chart or a component drawn under a key. Streamlit gives it a class with the key.
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
 * The height in px of the bar at the top, which covers the page below it; 0 if the bar is hidden.
 */
export function headerHeight() {
  return document.querySelector('[data-testid="stHeader"]')?.clientHeight ?? 0;
}

/** The sidebar; null before it is drawn. */
export function sidebar() {
  return document.querySelector('[data-testid="stSidebar"]');
}

/**
 * The list of the navigation and its items. Streamlit puts groups between the list and its items, which HTML does not allow.
 */
export function navigationLists() {
  return document.querySelectorAll('[data-testid="stSidebarNavItems"], [data-testid="stSidebarNavItems"] li');
}

/**
 * The sidebar's `details` element if the target of an event is in the heading of one; otherwise null.
 *
 * @param {Event} event
 * @returns {HTMLDetailsElement | null}
 */
export function sidebarFold(event) {
  const [target] = event.composedPath();
  const heading = target instanceof Element ? target.closest('[data-testid="stSidebar"] summary') : null;
  return heading?.closest("details") ?? null;
}

const SCROLL_BOXES = ".katex-display, .stCode pre, .stTable > div, .batch-rows, .stElementContainer:has(.stPlotlyChart)";

/**
 * Boxes within the page that scroll if their contents are larger: formulas, code, tables, and charts with a least width.
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

const SENTENCES = '[data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"]';
// Elements that react to a press, headings and names, and text typed by a person, which has its own element (escaping.py).
const NO_SENTENCE =
  'a, button, label, summary, h1, h2, h3, pre, tbody, .katex, .stMarkdownEllipsis, [data-testid="stWidgetLabel"], span:not([class], [style])';

/**
 * The elements that contain the sentences of the page.
 *
 * @returns {NodeListOf<HTMLElement>}
 */
export function sentences() {
  return pageScroller().querySelectorAll(SENTENCES);
}

/**
 * Whether an element is inside a sentence of the page.
 *
 * @param {Element} element
 */
export function isInSentence(element) {
  const sentence = element.closest(SENTENCES);
  return sentence !== null && pageScroller().contains(sentence) && !element.closest(NO_SENTENCE);
}

/**
 * The words in bold in the sentences of the page, in their order.
 *
 * @returns {HTMLElement[]}
 */
export function boldWords() {
  /** @type {NodeListOf<HTMLElement>} */
  const words = pageScroller().querySelectorAll('[data-testid="stMarkdownContainer"] strong');
  return [...words].filter((word) => !word.children.length && isInSentence(word));
}

/**
 * Whether the app is computing for this page.
 */
export function isRunning() {
  return document.querySelector('[data-testid="stStatusWidget"], [data-stale="true"]') !== null;
}

/**
 * The address that this window was opened with, including its part (`#head`). Streamlit drops the part when the app first writes
 * an address. A part with a value is left out (`openedWith`).
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
 * The colour behind the page. Our elements are transparent, and a saved picture needs a background.
 */
export function pageBackground() {
  return getComputedStyle(/** @type {Element} */ (document.querySelector(".stApp"))).backgroundColor;
}

/**
 * A colour of the theme, such as "primary-color". Streamlit sets these colours as CSS variables, also within a component.
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
 * The shadow roots of the components on the page.
 */
export function shadowRoots() {
  return [...pageScroller().querySelectorAll("*")].flatMap((element) => element.shadowRoot ?? []);
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
 * Let a tap pick the point of a chart under the finger. Plotly picks the point of the last mouse move, but the browser reports a
 * mouse move only after a tap. So without this function, a tap picks nothing, and the next tap picks the point of the first tap.
 *
 * @param {PointerEvent} event a press anywhere on the page
 */
export function moveToTap({ pointerType, target, clientX, clientY }) {
  if (pointerType !== "touch" || !(target instanceof Element) || !target.closest(".js-plotly-plot")) return;
  target.dispatchEvent(new MouseEvent("mousemove", { clientX, clientY, bubbles: true }));
}

/**
 * Save a chart with the chart's camera button, but with our own format, name and background. Scripts cannot import the Plotly of
 * Streamlit, so this button is the only way to Plotly's exporter.
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
 * Open an address in this session, without loading the app again. Streamlit has no function for this, but it listens to the
 * Back and Forward buttons. So this function adds the address to the history and sends the event of these buttons. Streamlit
 * then opens the address with all its parameters, and without choices of an earlier visit.
 *
 * @param {string} href
 * @param {boolean} [instead] whether the address replaces the present one, because no person requested it. Back then does not
 *   lead to the present address.
 */
export function openInSession(href, instead = false) {
  // Streamlit must first send the text that was typed before the click, because a later message would lead back to this address.
  setTimeout(() => {
    if (instead) {
      history.replaceState({}, "", withPresenting(href));
      dispatchEvent(new Event(ENTRY_EVENT));
    } else {
      dispatchEvent(new Event(CHOICE_EVENT));
      history.pushState({}, "", withPresenting(href));
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

/**
 * An address, with `present=1` if this page is presented.
 *
 * @param {string} href
 */
function withPresenting(href) {
  const address = new URL(href, location.href);
  if (new URLSearchParams(location.search).get("present") === "1") address.searchParams.set("present", "1");
  return address.href;
}

const CHOICE_EVENT = "headlight-choice"; // the next change of the address is a choice
const ENTRY_EVENT = "headlight-entry"; // another entry of the history is open
const ACT_LASTS = 10_000; // ms after an act of a person in which a change of the address can belong to that act
const BETWEEN_KEYS = 1_000; // ms at most between two keys that belong to one choice, such as on a slider
const BOX = "textarea, input:not([role='combobox'], [type='range'], [type='radio'], [type='checkbox'])";
const PRESSED = "button, a, input, label, summary, canvas, [role='option'], [role='tab'], [role='treeitem'], [role='gridcell']";

/**
 * Make Back undo exactly the last choice.
 *
 * By default, when a person moves a widget that is bound to the address, Streamlit replaces the current entry of the browser's
 * history, so Back would leave the page. When the app sets such widgets (a new model sets its first example), Streamlit adds one
 * entry for each widget, and the addresses between are mixtures of the old and the new state. With this function, the first
 * change of the address after an act of a person adds an entry. All later changes by the app change that entry.
 *
 * A change of a parameter in `lasting` adds no entry, because Back could not undo this change.
 *
 * Before Streamlit opens another page, it removes the choices of the old page from the address. This function restores the
 * address of the old page before the new one is added, so Back leads to the page as it was left.
 *
 * @param {string[]} [lasting] names of parameters
 */
export function addEntryForEachChoice(lasting = []) {
  // Do it once per window, although Streamlit may load this file again in the same window.
  if ("addsEntries" in history) return;
  Object.assign(history, { addsEntries: true });
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  /** @type {string | null} */
  let leaving = null; // the address at the click on a link to another page
  let typed = 0; // time of the last typing into a box, which sends its text later; 0 after the text has changed the address
  let acted = 0; // time of the last other act; 0 after it has changed the address
  let byKey = false;
  let opens = false; // whether the next change is an address that `openInSession` opens
  let sent = false; // whether typed text has changed the address since the last press
  let last = { names: "", time: 0 }; // parameters and time of the last choice made by a key
  let entry = entryNumber();

  /**
   * @param {number} number
   */
  const open = (number) => {
    entry = number;
    dispatchEvent(new Event(ENTRY_EVENT));
  };

  /**
   * Whether a change of these parameters is a new choice.
   *
   * @param {string} names
   */
  const isChoice = (names) => {
    const now = performance.now();
    const lasts = !opens && names.split(",").some((name) => lasting.includes(name));
    opens = false;
    if (lasts) {
      typed = acted = 0;
      return false;
    }
    if (leaving || !names || now - Math.max(typed, acted) > ACT_LASTS || !(typed || acted)) return false;
    const goesOn = !typed && byKey && names === last.names && now - last.time < BETWEEN_KEYS;
    if (!typed) last = byKey ? { names, time: now } : { names: "", time: 0 };
    // A press that ends typing sends the text. The pressed widget is a second choice.
    sent = typed > 0;
    typed = acted = 0;
    return !goesOn;
  };

  history.replaceState = (state, title, url) => {
    const choice = url && isThisPage(url) && isChoice(changedNames(url));
    if (choice) push({ ...state, entry: entry + 1 }, title, withPart(url));
    else replace({ ...state, entry }, title, withPart(url));
    if (choice) open(entry + 1);
  };
  history.pushState = (state, title, url) => {
    if (isThisPage(url)) return history.replaceState(state, title, url);
    if (leaving && isThisPage(leaving)) replace({ ...history.state, entry }, "", leaving);
    leaving = null;
    opens = false;
    typed = acted = 0;
    push({ ...state, entry: entry + 1 }, title, url);
    open(entry + 1);
  };
  replace({ ...history.state, entry }, "", location.href);

  const press = () => {
    acted = performance.now();
    byKey = sent = false;
  };
  addEventListener(CHOICE_EVENT, () => {
    press();
    opens = true;
  });
  addEventListener("pointerdown", press, true);
  addEventListener(
    "input",
    (event) => {
      const target = event.composedPath()[0];
      if (target instanceof Element && target.matches(BOX)) typed = performance.now();
    },
    true,
  );
  addEventListener(
    "keydown",
    (event) => {
      if (event.altKey || event.metaKey || ["Tab", "Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
      const target = event.composedPath()[0];
      if (target instanceof Element && target.matches(BOX)) {
        typed = performance.now();
      } else {
        acted = performance.now();
        byKey = true;
      }
    },
    true,
  );
  addEventListener(
    "click",
    (event) => {
      const path = event.composedPath().filter((element) => element instanceof Element);
      if (sent && path.some((element) => element.matches(PRESSED))) press();
      const link = path.find((element) => element instanceof HTMLAnchorElement && element.href);
      leaving = link instanceof HTMLAnchorElement && !isThisPage(link.href) ? location.href : null;
    },
    true,
  );
  addEventListener(
    "popstate",
    ({ isTrusted }) => {
      typed = acted = 0;
      leaving = null;
      // After a click on a link to a part of the page, the browser has added an entry without a number.
      if (isTrusted && typeof history.state?.entry !== "number") replace({ entry: entry + 1 }, "", location.href);
      if (isTrusted) open(entryNumber());
    },
    true,
  );
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
 * Put elements at the right end of the bar at the top, before Streamlit's menu.
 *
 * @param {...Element} elements
 */
export function addToHeader(...elements) {
  document.querySelector('[data-testid="stToolbarActions"]')?.before(...elements);
}

/**
 * The names of the parameters in which an address differs from the present address.
 *
 * @param {string | URL} url
 */
function changedNames(url) {
  const [before, after] = [new URLSearchParams(location.search), new URL(url, location.href).searchParams];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.getAll(name).join() !== after.getAll(name).join())
    .sort()
    .join();
}

/**
 * An address of this page with the part (`#head`) of the present address, because Streamlit drops it. Other addresses are
 * returned unchanged.
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
