// A tree as the WAI-ARIA pattern has it: one stop of the tab key, arrow keys within, Enter or a click to pick.
//
// Data and theme may change at any time; what a person folded belongs to the view and survives.

import { make, range, unchanged, viewOf } from "./component.js";

const OPEN = 4; // levels that are open at first: down to the parts of a layer

export default function tree({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".tree");
  viewOf(root, () => new Tree(root)).update(data, setTriggerValue);
}

class Tree {
  constructor(root) {
    this.root = root;
    root.setAttribute("role", "tree");
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("keydown", (event) => this.key(event));
  }

  update(data, send) {
    const before = this.data;
    [this.data, this.send] = [data, send];
    this.root.setAttribute("aria-label", data.says);
    if (!unchanged(before, data, "lines")) this.build();
    if (!unchanged(before, data, "lines", "selected")) {
      this.cursor = Math.max(0, this.ids.indexOf(data.selected));
      for (const at of this.above(this.cursor)) this.folded.delete(this.ids[at]);
    }
    this.mark();
    if (!unchanged(before, data, "lines", "selected")) this.show(this.rows[this.cursor]);
  }

  // Scroll the tree, and nothing else, until a row is in sight.
  show(row) {
    const [inside, outside] = [row.getBoundingClientRect(), this.root.getBoundingClientRect()];
    if (inside.top >= outside.top && inside.bottom <= outside.bottom) return;
    this.root.scrollTop += inside.top - outside.top - this.root.clientHeight / 3;
  }

  build() {
    const { lines, text } = this.data;
    this.ids = lines.map(([id]) => id);
    this.levels = lines.map(([, level]) => level);
    const folded = new Set();
    this.rows = lines.map(([id, level, name, kind, detail, note], at) => {
      const inner = (this.levels[at + 1] ?? 0) > level;
      // Folded at first; what a person has opened or folded before stays so.
      if (inner && (this.known?.has(id) ? this.folded.has(id) : level >= OPEN)) folded.add(id);
      const twist = make("span", { class: "twist", "aria-hidden": "true" });
      const said = make("span", { class: "said" }, make("b", {}, name), " ", make("code", {}, make("i", {}, kind), detail));
      const row = make("div", { role: "treeitem", "aria-level": level + 1, "data-at": at, tabindex: -1 }, twist, said);
      if (note) row.append(make("small", {}, note));
      row.style.setProperty("--level", level);
      row.classList.toggle("inner", inner);
      row.title = inner ? text.fold : "";
      return row;
    });
    this.folded = folded;
    this.known = new Set(this.ids);
    this.root.replaceChildren(...this.rows);
  }

  // The lines that a line lies under.
  above(at) {
    const found = [];
    for (let other = at - 1, level = this.levels[at]; other >= 0; other--) {
      if (this.levels[other] < level) {
        found.push(other);
        level = this.levels[other];
      }
    }
    return found;
  }

  mark() {
    this.rows.forEach((row, at) => {
      row.hidden = this.above(at).some((other) => this.folded.has(this.ids[other]));
      if (row.classList.contains("inner")) row.setAttribute("aria-expanded", String(!this.folded.has(this.ids[at])));
      row.setAttribute("aria-selected", String(this.ids[at] === this.data.selected));
      row.tabIndex = at === this.cursor ? 0 : -1;
    });
  }

  fold(at, closed) {
    closed ? this.folded.add(this.ids[at]) : this.folded.delete(this.ids[at]);
    // The cursor must not be left on a line that is gone.
    if (closed && this.above(this.cursor).includes(at)) this.cursor = at;
    this.mark();
  }

  go(at) {
    if (at === undefined) return;
    this.cursor = at;
    this.mark();
    this.rows[at].focus();
  }

  pick(at) {
    this.cursor = at;
    this.mark();
    this.send("pick", this.ids[at]);
  }

  click(event) {
    const row = event.target.closest("[data-at]");
    if (!row) return;
    const at = Number(row.dataset.at);
    if (event.target.closest(".twist") && row.classList.contains("inner")) this.fold(at, !this.folded.has(this.ids[at]));
    else this.pick(at);
  }

  key(event) {
    const at = this.cursor;
    const visible = range(this.rows.length).filter((other) => !this.rows[other].hidden);
    const place = visible.indexOf(at);
    const inner = this.rows[at].classList.contains("inner");
    const closed = this.folded.has(this.ids[at]);
    const keys = {
      ArrowDown: () => this.go(visible[place + 1]),
      ArrowUp: () => this.go(visible[place - 1]),
      Home: () => this.go(visible[0]),
      End: () => this.go(visible.at(-1)),
      ArrowRight: () => inner && (closed ? this.fold(at, false) : this.go(visible[place + 1])),
      ArrowLeft: () => (inner && !closed ? this.fold(at, true) : this.go(this.above(at)[0])),
      Enter: () => this.pick(at),
      " ": () => this.pick(at),
    };
    if (!keys[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  }
}
