// The bar of a page that is presented, and the keys of a clicker.

import { componentRoots, elementWithKey, headerHeight, pageScroller, sidebar } from "../ui/compat.js";
import { make, rootOf, viewOf } from "../ui/component.js";
import { fillIn } from "../ui/format.js";
import { freeze, isFrozen, thaw, thawAt, topAfterThaw } from "./still.js";

const AIR = 16; // px above a part that is stepped to
const GONE = 1000; // ms after which the bar of a page that is left has not come back on the next
const SIDEBAR = "data-sidebar"; // of the document while the sidebar lies over the page: present_page.css
const BEGUN = 24; // px that a part may have moved past that place and still be the present one
// What a person types into. A switch or a slider that was moved keeps the focus, and the keys are the bar's all the same.
const TYPED = "textarea, [contenteditable], input:not([type='checkbox'], [type='radio'], [type='range'])";
const SCREEN = 0.8; // of a screen: how far a step goes down in a part that is taller than one

/** @typedef {{ text: Record<string, string> }} Data */

/** @param {import("../ui/component.js").Mount<Data>} mount */
export default function present({ data, parentElement, setTriggerValue }) {
  const root = rootOf(parentElement, "present");
  const view = viewOf(root, () => new Presenting(root));
  return view.update(data.text, () => setTriggerValue("leave", true));
}

class Presenting {
  /** @type {"" | "black" | "frozen"} */ covered = "";
  /** @type {Record<string, string>} */ text = {};
  leave = () => {};

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.press = this.press.bind(this);
    this.covered = isFrozen() ? "frozen" : ""; // a still picture outlives the page that it is of
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
    return () => {
      removeEventListener("keydown", this.press, true);
      setTimeout(() => {
        if (!elementWithKey("present_bar")) thaw(pageScroller()); // nothing is left to take it away
      }, GONE);
    };
  }

  draw() {
    const { text } = this;
    this.root.setAttribute("role", "toolbar");
    this.root.setAttribute("aria-label", text.label);
    this.root.replaceChildren(
      this.button("▲", text.back, () => step(-1)),
      this.button("▼", text.next, () => step(1)),
      this.button("■", text.blank, () => this.cover("black"), this.covered === "black"),
      this.button("❄", text.freeze, () => this.cover("frozen"), this.covered === "frozen"),
      this.button("☰", text.sidebar, () => this.turnSidebar(), document.documentElement.hasAttribute(SIDEBAR)),
      this.button("✕", text.leave, this.leave),
    );
    if (this.covered !== "black") return;
    const cover = make("div", { class: "cover black", role: "status" }, make("p", {}, text.black));
    cover.addEventListener("click", () => this.cover("black"));
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

  /**
   * Cover the page, or uncover it if it is covered so.
   *
   * @param {"black" | "frozen"} how
   */
  cover(how) {
    this.covered = this.covered === how ? "" : how;
    if (this.covered === "frozen") this.freeze();
    else thaw(pageScroller());
    this.draw();
  }

  /** Lay the sidebar over the page, for another model or other texts; or put it away. */
  turnSidebar() {
    const isOpen = document.documentElement.toggleAttribute(SIDEBAR);
    this.draw();
    const next = isOpen ? sidebar() : this.root.querySelector(`[aria-pressed][title="${this.text.sidebar}"]`);
    if (!(next instanceof HTMLElement)) return;
    if (isOpen) next.tabIndex = -1; // the next Tab leads into it
    next.focus({ preventScroll: true });
  }

  /** End what covers the page, or else presenting. */
  escape() {
    if (this.covered) this.cover(this.covered);
    else if (document.documentElement.hasAttribute(SIDEBAR)) this.turnSidebar();
    else this.leave();
  }

  /** Keep on screen what is there; the page goes on beneath, with the bar of the source text at its top. */
  freeze() {
    const label = make("p", { role: "status" }, this.text.frozen);
    Object.assign(label.style, { position: "absolute", right: "0", bottom: "0", margin: "0", padding: "0.1rem 0.5rem" });
    label.style.background = "var(--headlight-page)";
    const scroller = pageScroller();
    freeze(scroller, label, () => elementWithKey("present_bar")?.getBoundingClientRect().bottom ?? 0);
    scroller.scrollTo(0, 0);
  }

  /**
   * While the page is frozen: prepare the next stop of the lesson, or the next part of the page; −1: the one before.
   *
   * @param {1 | -1} way
   */
  prepare(way) {
    if (openStop(way)) return;
    const part = partFrom(topAfterThaw(), way);
    if (part) thawAt(part.top, fillIn(this.text.frozen_at, { part: part.name }));
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const target = event.composedPath()[0];
    const typing = target instanceof Element && target.matches(TYPED);
    const key = event.key.toLowerCase();
    /** @type {Record<string, () => void>} */
    const acts = { escape: () => this.escape() };
    const black = () => this.cover("black");
    if (!typing) Object.assign(acts, { b: black, ".": black, f: () => this.cover("frozen") }); // clickers send a point
    if (!typing && !this.covered) acts.s = () => this.turnSidebar();
    if (this.covered === "frozen") Object.assign(acts, { pageup: () => this.prepare(-1), pagedown: () => this.prepare(1) });
    if (!this.covered) Object.assign(acts, { pageup: () => step(-1), pagedown: () => step(1) });
    // Escape in a box or an open list is theirs.
    const open = typing || document.querySelector('[role="listbox"], [role="dialog"]') !== null;
    const act = key === "escape" && open && !this.covered ? undefined : acts[key];
    const inBar = target instanceof Element && (elementWithKey("present_bar")?.contains(target) || this.root.contains(target));
    if (!act && (!this.covered || (this.covered === "frozen" && inBar))) {
      // The text is sent, and the next key is for this bar.
      if (this.covered && typing && key === "enter") setTimeout(() => target instanceof HTMLElement && target.blur());
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    act?.();
  }
}

/**
 * Go to the next stop of the lesson that is open, or to the next part of the page; −1: to the one before.
 *
 * @param {1 | -1} way
 */
function step(way) {
  if (openStop(way)) return;
  const scroller = pageScroller();
  const part = partFrom(scroller.scrollTop, way);
  if (part) scroller.scrollTo({ top: part.top, behavior: "instant" });
}

/**
 * The next part of the page, and where the page is scrolled to it; −1: the one before. Before the next part, and before the end of
 * the page, all of a taller part is seen.
 *
 * @param {number} now where the page is scrolled to, in px
 * @param {1 | -1} way
 */
function partFrom(now, way) {
  const scroller = pageScroller();
  const parts = [...scroller.querySelectorAll("h1, h2, h3, h4")]
    .filter((heading) => heading.checkVisibility())
    .map((heading, index) => {
      const top = scroller.scrollTop + heading.getBoundingClientRect().top - headerHeight() - AIR;
      return { top: index ? top : 0, name: heading.textContent?.trim() ?? "" };
    });
  if (way < 0) return parts.findLast(({ top }) => top < now - BEGUN);
  const next = parts.find(({ top }) => top > now + BEGUN);
  const screen = scroller.clientHeight - headerHeight();
  if (next && next.top - now < screen) return next;
  const end = scroller.scrollHeight - scroller.clientHeight;
  if (end - now < 1) return undefined;
  const present = parts.findLast(({ top }) => top <= now + BEGUN);
  return { top: Math.min(now + SCREEN * screen, end), name: present?.name ?? "" };
}

/**
 * Open the next stop of the lesson; −1: the one before. Returns whether there is one.
 *
 * @param {1 | -1} way
 */
function openStop(way) {
  const bar = elementWithKey("lesson_bar");
  for (const root of bar ? componentRoots(bar) : []) {
    const link = root.querySelector(way > 0 ? "a.next" : "a.back");
    if (!(link instanceof HTMLAnchorElement)) continue;
    link.click();
    return true;
  }
  return false;
}
