// A tree that follows the WAI-ARIA pattern: one stop of the tab key for the whole tree, arrow keys inside it, and Enter or a click
// to pick.
//
// Data and theme may change at any time. The view keeps which lines a person has folded.

import { closest, make, rootOf, unchanged, viewOf } from "./component.js";
import { ancestors, hasChildren, treeMove } from "./tree_moves.js";

/** @typedef {[id: string, level: number, name: string, kind: string, detail: string, note: string]} Line */

/**
 * `open` is how many levels are open at first. With `leaves`, only lines without lines below them can be picked.
 *
 * @typedef {{ lines: Line[], selected: string, says: string, open: number, leaves: boolean, text: Record<string, string> }} Data
 */

/** @param {import("./component.js").Mount<Data>} mount */
export default function tree({ data, parentElement, setTriggerValue }) {
  const root = rootOf(parentElement, "tree");
  viewOf(root, () => new Tree(root)).update(data, setTriggerValue);
}

class Tree {
  /** @type {Data} */ data;
  /** @type {(name: string, value: unknown) => void} */ send;
  /** @type {HTMLElement[]} */ rows = [];
  /** @type {string[]} */ ids = [];
  /** @type {number[]} */ levels = [];
  /** @type {Set<string>} */ folded = new Set();
  /** @type {Set<string>} */ known = new Set(); // ids of the lines at the last `build`
  /** @type {string[]} */ followed = []; // ids of the lines that were opened to show the selected line
  cursor = 0;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    root.setAttribute("role", "tree");
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("keydown", (event) => this.key(event));
  }

  /**
   * @param {Data} data
   * @param {(name: string, value: unknown) => void} send
   */
  update(data, send) {
    const before = this.data;
    [this.data, this.send] = [data, send];
    this.root.setAttribute("aria-label", data.says);
    if (!unchanged(before, data, "lines")) this.build();
    const moved = !unchanged(before, data, "lines", "selected");
    if (moved) {
      if (data.leaves) for (const id of this.followed) this.folded.add(id);
      this.cursor = Math.max(0, this.ids.indexOf(data.selected));
      const above = ancestors(this.levels, this.cursor).map((index) => this.ids[index]);
      this.followed = above.filter((id) => this.folded.delete(id));
    }
    this.mark();
    if (moved) this.scrollTo(this.rows[this.cursor]);
  }

  /**
   * Scroll only the tree, until a row is visible.
   *
   * @param {HTMLElement} row
   */
  scrollTo(row) {
    const [inside, outside] = [row.getBoundingClientRect(), this.root.getBoundingClientRect()];
    if (inside.top >= outside.top && inside.bottom <= outside.bottom) return;
    this.root.scrollTop += inside.top - outside.top - this.root.clientHeight / 3;
  }

  build() {
    const { lines, open, text } = this.data;
    this.ids = lines.map(([id]) => id);
    this.levels = lines.map(([, level]) => level);
    /** @type {Set<string>} */
    const folded = new Set();
    this.rows = lines.map(([id, level, name, kind, detail, note], index) => {
      const inner = hasChildren(this.levels, index);
      // A deep line is folded at first. A line that was drawn before stays open or folded.
      if (inner && (this.known.has(id) ? this.folded.has(id) : level >= open)) folded.add(id);
      const twist = make("span", { class: "twist", "aria-hidden": "true" });
      const words = make("span", { class: "said" }, make("b", {}, name));
      if (kind || detail) words.append(" ", make("code", {}, make("i", {}, kind), detail));
      const row = make("div", { role: "treeitem", "aria-level": level + 1, "data-id": id, tabindex: -1 }, twist, words);
      if (note) row.append(make("small", {}, note));
      row.style.setProperty("--level", String(level));
      row.classList.toggle("inner", inner);
      row.title = inner ? text.fold : "";
      return row;
    });
    this.folded = folded;
    this.known = new Set(this.ids);
    this.root.replaceChildren(...this.rows);
  }

  /** @param {number} index */
  isFolded(index) {
    return this.folded.has(this.ids[index]);
  }

  mark() {
    this.rows.forEach((row, index) => {
      row.hidden = ancestors(this.levels, index).some((other) => this.isFolded(other));
      if (hasChildren(this.levels, index)) row.setAttribute("aria-expanded", String(!this.isFolded(index)));
      row.setAttribute("aria-selected", String(this.ids[index] === this.data.selected));
      row.tabIndex = index === this.cursor ? 0 : -1;
    });
  }

  /**
   * @param {number} index
   * @param {boolean} closed
   */
  fold(index, closed) {
    if (closed) this.folded.add(this.ids[index]);
    else this.folded.delete(this.ids[index]);
    this.followed = this.followed.filter((id) => id !== this.ids[index]); // a line that a person unfolds stays open
    // The cursor must not stay on a line that is now hidden.
    if (closed && ancestors(this.levels, this.cursor).includes(index)) this.cursor = index;
    this.mark();
  }

  /** @param {number} index */
  go(index) {
    this.cursor = index;
    this.mark();
    this.rows[index].focus();
  }

  /** @param {number} index */
  pick(index) {
    this.cursor = index;
    if (this.data.leaves && hasChildren(this.levels, index)) return this.fold(index, !this.isFolded(index));
    this.mark();
    this.send("pick", this.ids[index]);
  }

  /** @param {Event} event */
  click(event) {
    const row = closest(event, "[data-id]");
    if (!row) return;
    const index = this.rows.indexOf(row);
    if (closest(event, ".twist") && hasChildren(this.levels, index)) this.fold(index, !this.isFolded(index));
    else this.pick(index);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const move = treeMove(event.key, this.cursor, this.levels, (index) => this.isFolded(index));
    if (!move) return;
    event.preventDefault();
    event.stopPropagation(); // on the page, the arrow keys step through a walk
    if ("go" in move) this.go(move.go);
    if ("fold" in move) this.fold(this.cursor, move.fold);
    if ("pick" in move) this.pick(this.cursor);
  }
}
