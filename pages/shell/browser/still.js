// Covers the page with a still picture of it. The page under the picture can go on changing.

const NAME = "still"; // of the element
const TOP = "999990"; // above everything of the page

/**
 * A copy of an element and of all its content, with the pictures of canvases, typed texts and shadow roots.
 *
 * @param {Element} element
 * @returns {Element}
 */
function copyOf(element) {
  const copy = /** @type {HTMLElement} */ (element.cloneNode(false));
  // Scripts that search the page for these elements must not find their copies.
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
 * Give a copy and everything in it the scroll positions of the original.
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
 * Put a picture of the page over the page. Nothing in the picture reacts to a click or a key. A strip at the top of the page stays
 * uncovered and usable.
 *
 * @param {Element} page what scrolls the page
 * @param {Element} label shown in a corner
 * @param {() => number} open returns the present height of that strip in px
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
  // The styles of the page depend on the elements around it, so these are copied, too, but without their other content.
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
 * Take the picture away. If the same view of the page is still open, it gets the scroll position that it had before.
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
 * Set another scroll position, which the page gets when the picture is taken away.
 *
 * @param {number} top in px
 * @param {string} says the new text of the label on the picture
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

/** A text that names the open page and the open stop of the lesson. */
function placeOf() {
  return `${location.pathname} ${new URLSearchParams(location.search).get("lesson_stop")}`;
}
