// A still picture of the page: what was on screen, while the page itself goes on beneath it.

const NAME = "still"; // of the element
const TOP = "999990"; // above everything of the page

/**
 * A copy of an element with all it holds: pictures on a canvas, what was typed, and what is in shadow roots, too.
 *
 * @param {Element} element
 * @returns {Element}
 */
function copyOf(element) {
  const copy = /** @type {HTMLElement} */ (element.cloneNode(false));
  // What looks for a place of the page must not find the picture of it.
  copy.classList.remove("unseen");
  copy.removeAttribute("data-stale");
  if (element instanceof HTMLCanvasElement && copy instanceof HTMLCanvasElement && element.width && element.height) {
    copy.getContext("2d")?.drawImage(element, 0, 0);
  }
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    Object.assign(copy, { value: element.value });
  }
  if (element.shadowRoot) {
    const root = copy.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [...element.shadowRoot.adoptedStyleSheets];
    root.append(...copies(element.shadowRoot));
  }
  copy.append(...copies(element));
  return copy;
}

/** @param {Node} place */
function copies(place) {
  return [...place.childNodes].map((node) => (node instanceof Element ? copyOf(node) : node.cloneNode()));
}

/**
 * Scroll a copy as its original is, with all that scrolls within.
 *
 * @param {ParentNode & Node} original
 * @param {ParentNode & Node} copy
 */
function scrollAs(original, copy) {
  const [from, to] = [original, copy].map((place) => place.querySelectorAll("*"));
  for (const [index, element] of [...from].entries()) {
    if (element.scrollTop || element.scrollLeft) to[index].scrollTo(element.scrollLeft, element.scrollTop);
    const [inside, inCopy] = [element.shadowRoot, to[index].shadowRoot];
    if (inside && inCopy) scrollAs(inside, inCopy);
  }
}

/**
 * Put a picture of the page over it. Nothing in it reacts, but the strip of the page above `open` px, which is not covered.
 *
 * @param {Element} page what scrolls the page
 * @param {Element} label shown in a corner
 * @param {() => number} open the height of the strip now, in px
 */
export function freeze(page, label, open) {
  thaw(page);
  const cover = document.createElement("div");
  cover.id = NAME;
  Object.assign(cover.dataset, { top: String(page.scrollTop), place: placeOf() });
  Object.assign(cover.style, { position: "fixed", inset: "0", zIndex: TOP });
  const picture = document.createElement("div");
  picture.inert = true;
  picture.ariaHidden = "true";
  // Styles of the page are for elements within its own; each of these is copied without what else it holds.
  let inner = copyOf(page);
  for (let around = page.parentElement; around && around !== document.body; around = around.parentElement) {
    const shell = /** @type {Element} */ (around.cloneNode(false));
    shell.append(inner);
    inner = shell;
  }
  picture.append(inner);
  cover.append(picture, label);
  document.body.append(cover);
  const copy = /** @type {Element} */ (cover.querySelector(`.${[...page.classList].map(CSS.escape).join(".")}`));
  scrollAs(page, copy);
  copy.scrollTop = page.scrollTop;
  const leaveOpen = () => {
    if (!cover.isConnected) return;
    cover.style.clipPath = `inset(${Math.max(0, open())}px 0 0 0)`;
    requestAnimationFrame(leaveOpen);
  };
  leaveOpen();
}

/**
 * Take the picture away. The same view of the page is scrolled as it was before.
 *
 * @param {Element} page what scrolls the page
 */
export function thaw(page) {
  const cover = document.getElementById(NAME);
  if (cover?.dataset.place === placeOf()) page.scrollTop = Number(cover.dataset.top);
  cover?.remove();
}

/** Where the page will be scrolled to when the picture is taken away, in px. */
export function topAfterThaw() {
  return Number(document.getElementById(NAME)?.dataset.top ?? 0);
}

/**
 * Scroll the page elsewhere when the picture is taken away.
 *
 * @param {number} top in px
 * @param {string} says for the label of the picture
 */
export function thawAt(top, says) {
  const cover = document.getElementById(NAME);
  if (!cover?.lastElementChild) return;
  cover.dataset.top = String(top);
  cover.lastElementChild.textContent = says;
}

/** Whether a picture covers the page. */
export function isFrozen() {
  return document.getElementById(NAME) !== null;
}

/** The page, and the stop of the lesson, that are open. */
function placeOf() {
  return `${location.pathname} ${new URLSearchParams(location.search).get("lesson_stop")}`;
}
