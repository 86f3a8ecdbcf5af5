// The bar of a page on a projector, and the keys of a clicker.

import { elementWithKey, headerHeight, pageScroller, shadowRoots, sidebar } from "../../ui/compat.js";
import { make, rootOf, viewOf } from "../../ui/component.js";
import { closeScreen } from "../../ui/screens.js";

const AIR = 16; // px between the top of the screen and the part after a step
const SIDEBAR = "data-sidebar"; // attribute of the document while the sidebar covers the page: present_page.css
const BEGUN = 24; // px by which a part can be above or below its place and still count as the current part
// Elements for typing. A switch or a slider keeps the focus after a change, but the keys still control the bar.
const TYPED = "textarea, [contenteditable], input:not([type='checkbox'], [type='radio'], [type='range'])";
const SCREEN = 0.8; // share of a screen by which a step scrolls within a part that is taller than the screen

/** @typedef {{ text: Record<string, string> }} Data */

/** @param {import("../../ui/component.js").Mount<Data>} mount */
export default function present({ data, parentElement, setTriggerValue }) {
  const root = rootOf(parentElement, "present");
  const view = viewOf(root, () => new Presenting(root));
  return view.update(data.text, () => setTriggerValue("leave", true));
}

class Presenting {
  black = false; // whether the screen is black
  /** @type {Record<string, string>} */ text = {};
  leave = () => {};

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.press = this.press.bind(this);
  }

  /**
   * @param {Record<string, string>} text
   * @param {() => void} leave
   */
  update(text, leave) {
    this.text = text;
    this.leave = () => {
      document.documentElement.removeAttribute(SIDEBAR);
      leave();
    };
    this.draw();
    addEventListener("keydown", this.press, true);
    return () => removeEventListener("keydown", this.press, true);
  }

  draw() {
    const { text } = this;
    this.root.setAttribute("role", "toolbar");
    this.root.setAttribute("aria-label", text.label);
    this.root.replaceChildren(
      this.button("▲", text.back, () => step(-1)),
      this.button("▼", text.next, () => step(1)),
      this.button("■", text.blank, () => this.cover(), this.black),
      this.button("☰", text.sidebar, () => this.turnSidebar(), document.documentElement.hasAttribute(SIDEBAR)),
      this.button("✕", text.leave, this.leave),
    );
    if (!this.black) return;
    const cover = make("div", { class: "cover black", role: "status" }, make("p", {}, text.black));
    cover.addEventListener("click", () => this.cover());
    this.root.append(cover);
  }

  /**
   * @param {string} sign
   * @param {string} says
   * @param {() => void} act
   * @param {boolean} [pressed]
   */
  button(sign, says, act, pressed) {
    const button = make("button", { type: "button", title: says, "aria-label": says }, sign);
    if (pressed !== undefined) button.setAttribute("aria-pressed", String(pressed));
    button.addEventListener("click", act);
    return button;
  }

  /** Make the screen black, or show the page again. */
  cover() {
    this.black = !this.black;
    this.draw();
  }

  /** Show the sidebar over the page, for another model or other texts, or hide it again. */
  turnSidebar() {
    const isOpen = document.documentElement.toggleAttribute(SIDEBAR);
    this.draw();
    const next = isOpen ? sidebar() : this.root.querySelector(`[aria-pressed][title="${this.text.sidebar}"]`);
    if (!(next instanceof HTMLElement)) return;
    if (isOpen) next.tabIndex = -1; // so that it can be focused, and the next Tab moves into it
    next.focus({ preventScroll: true });
  }

  /** Uncover the page. If nothing covers it, stop presenting. */
  escape() {
    if (this.black) this.cover();
    else if (closeScreen()) return;
    else if (document.documentElement.hasAttribute(SIDEBAR)) this.turnSidebar();
    else this.leave();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const target = event.composedPath()[0];
    const typing = target instanceof Element && target.matches(TYPED);
    const key = event.key.toLowerCase();
    /** @type {Record<string, () => void>} */
    const acts = { escape: () => this.escape() };
    if (!typing) Object.assign(acts, { b: () => this.cover(), ".": () => this.cover() }); // some clickers send "."
    if (!typing && !this.black) acts.s = () => this.turnSidebar();
    if (!this.black) Object.assign(acts, { pageup: () => step(-1), pagedown: () => step(1) });
    // In a text box or an open list, Escape belongs to that element.
    const open = typing || document.querySelector('[role="listbox"], [role="dialog"]') !== null;
    const act = key === "escape" && open && !this.black ? undefined : acts[key];
    if (!act && !this.black) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    act?.();
  }
}

/**
 * Go to the next stop of the open lesson or, without a lesson, to the next part of the page.
 *
 * @param {1 | -1} way 1 for the next stop or part, −1 for the previous one
 */
function step(way) {
  if (way > 0 && closeScreen()) return;
  if (openStop(way)) return;
  const scroller = pageScroller();
  const top = partFrom(scroller.scrollTop, way);
  if (top !== undefined) scroller.scrollTo({ top, behavior: "instant" });
}

/**
 * The scroll position, in px, with the next or previous part of the page at the top. A part that is taller than the screen needs
 * several steps, so that all of it is shown before the next part or the end of the page.
 *
 * @param {number} now the current scroll position, in px
 * @param {1 | -1} way 1 for the next part, −1 for the previous one
 */
function partFrom(now, way) {
  const scroller = pageScroller();
  const parts = [...scroller.querySelectorAll("h1, h2, h3, h4")]
    .filter((heading) => heading.checkVisibility())
    .map((heading, index) => (index ? now + heading.getBoundingClientRect().top - headerHeight() - AIR : 0));
  if (way < 0) return parts.findLast((top) => top < now - BEGUN);
  const next = parts.find((top) => top > now + BEGUN);
  const screen = scroller.clientHeight - headerHeight();
  if (next !== undefined && next - now < screen) return next;
  const end = scroller.scrollHeight - scroller.clientHeight;
  return end - now < 1 ? undefined : Math.min(now + SCREEN * screen, end);
}

/**
 * Open the next or previous stop of the lesson. Returns whether there is such a stop.
 *
 * @param {1 | -1} way 1 for the next stop, −1 for the previous one
 */
function openStop(way) {
  const bar = elementWithKey("lesson_bar");
  const name = way > 0 ? ".moves .next" : ".moves .back";
  const link =
    bar &&
    shadowRoots(bar)
      .map((root) => root.querySelector(name))
      .find(Boolean);
  if (link instanceof HTMLElement) link.click();
  return link instanceof HTMLElement;
}
