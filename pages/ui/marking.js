// Cells that a person marks before the truth is shown; after that, the same cells with the truth and the marks. A single row is
// a line of tokens that wraps; several rows are a table.

import { isLight } from "./colors.js";
import { closest, make, range, rootOf, unchanged, viewOf } from "./component.js";
import { fillIn, tokenText } from "./format.js";
import { cellAfterKey } from "./cells.js";
import { ascending, Echoes, markedCells } from "./marking_cells.js";

/** @typedef {{ colors: string[], values: string[], signs: string[] | null }} Truth */

/**
 * @typedef {{
 *   rows: string[], columns: string[], marks: number[], before: number[] | null, closed: number[], truth: Truth | null,
 *   most: number, label: string, round: string, colors: { masked: string, line: string }, text: Record<string, string>,
 * }} Data
 */

/** @param {import("./component.js").Mount<Data>} mount */
export default function marking({ data, parentElement, setTriggerValue }) {
  const root = rootOf(parentElement, "marking");
  const view = viewOf(root, () => new Marking(root));
  view.send = (marks) => setTriggerValue("marks", marks);
  view.show(data);
}

class Marking {
  /** @type {Data} */ data;
  /** @type {number[]} */ marks = [];
  echoes = new Echoes(); // of this round
  /** @type {HTMLButtonElement[]} */ cells = [];
  cursor = 0; // the cell that the tab key reaches
  /** @type {{ on: boolean, before: number[] } | null} */ drag = null;
  handled = false; // whether the pointer events have already done the work of the next click event

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.send = (/** @type {number[]} */ _) => {};
    root.addEventListener("pointerdown", (event) => this.press(event));
    root.addEventListener("pointermove", (event) => this.drag && this.mark(this.cellAt(event), this.drag.on));
    root.addEventListener("pointerup", () => this.release());
    root.addEventListener("pointercancel", () => this.cancel());
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {Data} data */
  show(data) {
    const before = this.data;
    this.data = data;
    if (before?.round !== data.round) this.echoes = new Echoes();
    if (this.echoes.elsewhere(data.marks)) this.marks = data.marks;
    if (!unchanged(before, data, "rows", "columns", "closed", "truth", "text", "label", "colors")) this.build();
    this.paint();
  }

  get open() {
    return this.data.truth === null;
  }

  /**
   * Whether a cell can be marked.
   *
   * @param {number} cell
   */
  free(cell) {
    return !this.data.closed.includes(cell);
  }

  build() {
    const { rows, columns, truth, text, colors, label } = this.data;
    const { root } = this;
    root.style.setProperty("--masked", colors.masked);
    root.style.setProperty("--line", colors.line);
    const indices = range(rows.length * columns.length);
    this.cursor = [this.cursor, ...indices].find((cell) => cell in indices && this.free(cell)) ?? 0;
    this.cells = indices.map((index) => this.cell(index));
    const line = rows.length === 1;
    root.dataset.layout = line ? "line" : "table";
    root.style.setProperty("--columns", String(columns.length));
    const picture = line ? this.line(label) : this.table(label);
    const below = make("div", { class: "below" });
    if (truth) {
      this.legend = make("p", { class: "says" });
      below.append(this.legend);
    } else {
      below.append(make("p", { class: "says" }, line || this.data.most ? text.keys : text.drag));
      if (!this.data.most) below.append(this.preset(text.clear, false), ...(line ? [] : [this.preset(text.all, true)]));
    }
    root.replaceChildren(picture, below);
  }

  /** @param {string} label */
  line(label) {
    const { columns } = this.data;
    const tokens = columns.map((token, index) => {
      const tags = make("span", { class: "tags", "aria-hidden": "true" });
      return make("li", {}, make("span", { class: "token", "aria-hidden": "true" }, tokenText(token)), this.cells[index], tags);
    });
    return make("ul", { class: "tokens", role: "group", "aria-label": label }, ...tokens);
  }

  /** @param {string} label */
  table(label) {
    const { rows, columns } = this.data;
    const head = columns.map((token) => make("th", { scope: "col" }, make("span", {}, tokenText(token))));
    const body = rows.map((token, row) => {
      const cells = columns.map((_, column) => make("td", {}, this.cells[row * columns.length + column]));
      return make("tr", {}, make("th", { scope: "row" }, tokenText(token)), ...cells);
    });
    const table = make("table", { "aria-label": label }, make("tr", {}, make("td", {}), ...head), ...body);
    return make("div", { class: "scroll" }, table);
  }

  /** @param {number} index */
  cell(index) {
    const { closed, truth } = this.data;
    const cell = make("button", { type: "button", class: "cell", "data-cell": index });
    if (closed.includes(index) || (truth && !truth.colors[index])) cell.classList.add("masked");
    if (!this.free(index)) cell.disabled = true;
    if (truth) {
      cell.style.background = truth.colors[index];
      cell.style.color = truth.colors[index] ? (isLight(truth.colors[index]) ? "black" : "white") : "";
    }
    return cell;
  }

  /**
   * A button that marks all cells or clears all marks.
   *
   * @param {string} name
   * @param {boolean} on
   */
  preset(name, on) {
    const button = make("button", { type: "button", class: "preset" }, name);
    button.addEventListener("click", () => {
      this.marks = on ? range(this.cells.length).filter((cell) => this.free(cell)) : [];
      this.tell();
    });
    return button;
  }

  paint() {
    const { rows, columns, truth, before, text } = this.data;
    const line = rows.length === 1;
    for (const [index, cell] of this.cells.entries()) {
      const [marked, earlier] = [this.marks.includes(index), before?.includes(index) ?? false];
      cell.classList.toggle("marked", marked);
      cell.classList.toggle("before", earlier);
      cell.tabIndex = index === this.cursor ? 0 : -1;
      const column = columns[index % columns.length];
      const name = line ? column : fillIn(text.cell, { row: rows[Math.floor(index / columns.length)], column });
      if (truth) {
        const told = marked ? text.truth_marked : earlier ? text.truth_before : text.truth;
        cell.setAttribute("aria-label", fillIn(told, { cell: name, value: truth.values[index] }));
        cell.textContent = truth.signs ? truth.signs[index] : truth.values[index];
      } else {
        cell.setAttribute("aria-label", name);
        cell.setAttribute("aria-pressed", String(marked));
        cell.textContent = marked ? "✓" : "";
      }
      const tags = line ? cell.nextElementSibling : null;
      const words = [...(earlier && truth ? [text.before] : []), ...(marked && truth ? [text.own] : [])];
      if (tags) tags.textContent = words.join(" · ");
    }
    if (truth && this.legend) this.legend.textContent = before ? `${text.key_marks}; ${text.key_before}` : text.key_marks;
    this.root.dataset.marks = ascending(this.marks).join(".");
  }

  /**
   * Mark or clear a cell without sending the marks to the server.
   *
   * @param {number | null} cell
   * @param {boolean} on
   */
  mark(cell, on) {
    if (cell === null || !this.open || !this.free(cell) || this.marks.includes(cell) === on) return;
    this.marks = markedCells(this.marks, [cell], on, this.data.most);
    this.cursor = cell;
    this.paint();
  }

  /** Send the marks to the server. */
  tell() {
    this.paint();
    this.echoes.note(this.marks);
    this.send(ascending(this.marks));
  }

  /**
   * The cell under a pointer.
   *
   * @param {PointerEvent | MouseEvent} event
   */
  cellAt(event) {
    const scope = /** @type {Document | ShadowRoot} */ (this.root.getRootNode());
    const element = scope.elementFromPoint(event.clientX, event.clientY)?.closest(".cell");
    return element instanceof HTMLElement ? Number(element.dataset.cell) : null;
  }

  /** @param {PointerEvent} event */
  press(event) {
    const cell = this.cellAt(event);
    this.handled = false;
    if (!this.open || event.button !== 0 || cell === null || !this.free(cell)) return;
    this.root.setPointerCapture(event.pointerId);
    this.drag = { on: !this.marks.includes(cell), before: this.marks };
    this.mark(cell, this.drag.on);
  }

  release() {
    if (!this.drag) return;
    this.handled = true;
    const moved = this.drag.before.join() !== this.marks.join();
    this.drag = null;
    if (moved) this.tell();
  }

  /** The browser uses the gesture for scrolling: undo the marks of this gesture. */
  cancel() {
    if (!this.drag) return;
    this.marks = this.drag.before;
    this.drag = null;
    this.paint();
  }

  /** A click by the keyboard or by a screen reader. @param {MouseEvent} event */
  click(event) {
    const cell = closest(event, ".cell");
    if (this.handled || !cell || !this.open) {
      this.handled = false;
      return;
    }
    const index = Number(cell.dataset.cell);
    this.mark(index, !this.marks.includes(index));
    this.tell();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !(event.target instanceof HTMLElement)) return;
    if (!event.target.matches(".cell")) return;
    const after = (/** @type {number} */ cell) => cellAfterKey(event.key, cell, this.data.columns.length, this.cells.length);
    let next = after(this.cursor);
    // Cells that cannot be marked cannot have the focus either, so continue in the same direction.
    while (next !== null && !this.free(next) && after(next) !== next) next = after(next);
    if (next === null || next === this.cursor || !this.free(next)) return;
    event.preventDefault();
    this.cursor = next;
    this.paint();
    this.cells[next].focus();
  }
}
