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

/** The sidebar; null before it is drawn. */
export function sidebar() {
  return document.querySelector('[data-testid="stSidebar"]');
}

/**
 * The list of the navigation and its items. Streamlit puts groups between them, which a list must not have.
 */
export function navigationLists() {
  return document.querySelectorAll('[data-testid="stSidebarNavItems"], [data-testid="stSidebarNavItems"] li');
}

/**
 * The fold of the sidebar whose heading an event is on.
 *
 * @param {Event} event
 * @returns {HTMLDetailsElement | null}
 */
export function sidebarFold(event) {
  const [target] = event.composedPath();
  const heading = target instanceof Element ? target.closest('[data-testid="stSidebar"] summary') : null;
  return heading?.closest("details") ?? null;
}

/**
 * Boxes within the page that scroll where what they hold is larger: formulas, code, tables, and charts with a least width.
 *
 * @returns {NodeListOf<HTMLElement>}
 */
export function scrollBoxes() {
  return pageScroller().querySelectorAll(
    ".katex-display, .stCode pre, .stTable > div, .batch-rows, .stElementContainer:has(.stPlotlyChart)",
  );
}

const SENTENCES = '[data-testid="stMarkdownContainer"], [data-testid="stCaptionContainer"]';
// What has its own use for a press, what names something, and what a person typed: that has an element of its own (escaping.py).
const NO_SENTENCE =
  'a, button, label, summary, h1, h2, h3, pre, table, .katex, .stMarkdownEllipsis, [data-testid="stWidgetLabel"], span:not([class], [style])';

/**
 * The elements that hold the sentences of the page.
 *
 * @returns {NodeListOf<HTMLElement>}
 */
export function sentences() {
  return pageScroller().querySelectorAll(SENTENCES);
}

/**
 * Whether an element stands in a sentence of the page.
 *
 * @param {Element} element
 */
export function isInSentence(element) {
  const sentence = element.closest(SENTENCES);
  return sentence !== null && pageScroller().contains(sentence) && !element.closest(NO_SENTENCE);
}

/**
 * Words set in bold in the sentences of the page, in their order.
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
 * Let a tap pick the point of a chart that is under the finger. Plotly takes the point that the last move of a mouse was on, and
 * the browser reports such a move only after a tap: so a tap picked nothing, and the next one the point of the tap before.
 *
 * @param {PointerEvent} event a press anywhere on the page
 */
export function moveToTap({ pointerType, target, clientX, clientY }) {
  if (pointerType !== "touch" || !(target instanceof Element) || !target.closest(".js-plotly-plot")) return;
  target.dispatchEvent(new MouseEvent("mousemove", { clientX, clientY, bubbles: true }));
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
 * @param {boolean} [instead] whether it takes the place of the present address, because no person asked for it: Back does not lead
 *   to where the present one was
 */
export function openInSession(href, instead = false) {
  // Streamlit first sends what was typed before the click: sent later, it would lead back here.
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

const CHOICE_EVENT = "headlight-choice"; // what follows is a choice
const ENTRY_EVENT = "headlight-entry"; // another entry of the history is open
const ACT_LASTS = 10_000; // ms after which a change of the address is no longer taken for that of an act
const BETWEEN_KEYS = 1_000; // ms at most between keys that make one choice, as on a slider
const BOX = "textarea, input:not([role='combobox'], [type='range'], [type='radio'], [type='checkbox'])";
const PRESSED = "button, a, input, label, summary, canvas, [role='option'], [role='tab'], [role='treeitem'], [role='gridcell']";

/**
 * Make Back undo the last choice, and nothing less or more.
 *
 * When a person moves a widget that is bound to the address, Streamlit replaces the current entry of the browser's history, so
 * Back would leave the page. When the app sets such a widget (another model brings its first example), it adds an entry for
 * each one, half of them mixtures of before and after. Here the first change of the address after a person has acted adds an
 * entry, and all that the app changes after it belongs to it.
 *
 * A change of the parameters that `lasting` names adds none: Back could not undo it.
 *
 * On the way to another page Streamlit first takes what was chosen on the old one out of its address. Here that address is
 * put back before the next is added, so Back leads to the page as it was left.
 *
 * @param {string[]} [lasting] names of parameters
 */
export function addEntryForEachChoice(lasting = []) {
  // Streamlit may load this file again in the same window.
  if ("addsEntries" in history) return;
  Object.assign(history, { addsEntries: true });
  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  /** @type {string | null} */
  let leaving = null; // the address a person was at when they clicked the link to another page
  let typed = 0; // when a person last typed into a box, which sends its text later; 0 once that changed the address
  let acted = 0; // the same for anything else
  let byKey = false;
  let opens = false; // whether the next change is an address that `openInSession` opens
  let sent = false; // whether what was typed has changed the address since the last press
  let last = { names: "", time: 0 }; // the parameters of the last choice made by a key
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
    // The press that ends typing sends the text; what it presses is a choice of its own.
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
      // A click on a link to a part of the page adds an entry without a number.
      if (isTrusted && typeof history.state?.entry !== "number") replace({ entry: entry + 1 }, "", location.href);
      if (isTrusted) open(entryNumber());
    },
    true,
  );
}

/**
 * The number of the open entry of the history, counted from 0, the first of the app in this window.
 *
 * @returns {number}
 */
export function entryNumber() {
  return history.state?.entry ?? 0;
}

/**
 * Do something whenever another entry of the history is open, be it new or an earlier one.
 *
 * @param {() => void} act
 */
export function whenEntryOpens(act) {
  addEventListener(ENTRY_EVENT, act);
}

/**
 * Put an element at the right of the bar at the top, before Streamlit's menu.
 *
 * @param {Element} element
 */
export function addToHeader(element) {
  document.querySelector('[data-testid="stToolbarActions"]')?.before(element);
}

/**
 * The names of the parameters in which an address differs from the present one.
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
