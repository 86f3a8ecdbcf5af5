// One stop of the walk: inputs, operation, result. All are drawn to one scale, so that a change of shape is visible.

import { MASKED_LEVEL, pixelsOfColor, pixelsOfScale, ramp, svgRamp } from "../ui/colors.js";
import { clamp, make, penOf, range, rootOf, textScale, viewOf } from "../ui/component.js";
import { fillIn, formatNumber, tokenText } from "../ui/format.js";
import { HATCH_GAP, fillHatched, paintCells } from "../ui/paint.js";
import { unpackParcel } from "../ui/parcel.js";
import { Sheet, answerWithPicture } from "../ui/picture.js";
import {
  LONGEST_LABEL,
  cellAfterKey,
  cellAtPoint,
  cellsOfDot,
  columnsBetween,
  dotBox,
  dotCounts,
  dotLevel,
  dotSize,
  entriesAround,
  isStepKey,
  panelLayout,
  placePanels,
  shortened,
} from "./stop_layout.js";

const MOST_VALUES = 12; // exact numbers in the description of a dot that stands for several numbers
// The size of letters in px on an ordinary page. While the page is presented, the smallest letters have 18 px.
const LABEL_SIZE = 12;
const HEAD_SIZE = 11.52;
const SHORTEST_DRAG = 6; // px

/** @typedef {import("./stop_layout.js").Panel} Panel */

/** @typedef {import("./stop_layout.js").Cell} Cell */

/** @typedef {import("./stop_layout.js").Placing} Placing */

/**
 * A tensor as Python sends it. Its numbers begin at `offset` in the bytes. If it is `masked`, one byte for each number follows:
 * 1 if a mask hides the number.
 *
 * @typedef {Omit<Panel, "values" | "hidden" | "from" | "to" | "each" | "box"> & {
 *   path: string, title: string, shape: string, label: string, says: string, axes: [tile: string, row: string, column: string],
 *   limit_label: number, color: string, offset: number, masked: boolean,
 * }} Sent
 */

/**
 * A tensor with its elements on the page. `ends`: the input fields for the first and the last column. `last`: the last cell
 * that the arrow keys reached.
 *
 * @typedef {Sent & Panel & {
 *   canvas: HTMLCanvasElement, ends: [first: HTMLInputElement, last: HTMLInputElement] | null, legend: HTMLElement,
 *   last: Cell | null,
 * }} Drawn
 */

/**
 * @typedef {{
 *   inputs: Sent[], result: Sent, operation: string, label: string, most_columns: number, text: Record<string, string>,
 *   colors: { signed: string, weights: string, masked: string, line: string },
 * }} Data
 */

/** @param {import("../ui/component.js").Mount<Uint8Array>} mount */
export default function stop({ data: parcel, parentElement }) {
  const [data, bytes] = unpackParcel(parcel);
  const root = rootOf(parentElement, "stop");
  return viewOf(root, () => new View(root)).update(data, bytes);
}

class View {
  /** @type {Data} */ data;
  /** @type {Drawn[]} */ panels = [];
  /** @type {Record<"signed" | "weights" | "ids", import("../ui/colors.js").Pixels>} */ pixels;
  /** @type {Drawn | null} */ read = null; // the panel that the arrow keys are in
  /** @type {{ panel: Drawn, cell: Cell, clientX: number } | null} */ pressed = null; // the place where a drag began
  flow = make("div", { class: "flow" });
  notes = make("p", { class: "notes", "data-words": "" });
  sign = make("div", { class: "sign" });
  arrow = make("div", { class: "arrow", "aria-hidden": "true" });
  drawnWidth = 0;
  calls = 0;
  painted = 0;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.observer = new ResizeObserver(() => {
      if (this.data && this.root.clientWidth !== this.drawnWidth) this.draw();
    });
    this.tip = make("div", { class: "tip", hidden: "", "aria-hidden": "true" });
    this.mark = make("div", { class: "mark", hidden: "", "aria-hidden": "true" });
    this.says = make("p", { class: "says", role: "status", "aria-live": "polite" });
    this.sheet = make("div", { class: "sheet" });
    root.replaceChildren(this.sheet, this.mark, this.tip, this.says);
    answerWithPicture(root, () => this.drawn());
  }

  /**
   * Draw new data. The returned cleanup does nothing after a later call, because it may run late.
   *
   * @param {Data} data
   * @param {Uint8Array<ArrayBuffer>} bytes
   */
  update(data, bytes) {
    const call = ++this.calls;
    this.data = data;
    const { colors } = data;
    this.pixels = {
      signed: pixelsOfScale(colors.signed),
      weights: pixelsOfScale(colors.weights),
      ids: pixelsOfColor(colors.line),
    };
    this.leave();
    this.panels = [...data.inputs, data.result].map((sent) => this.unpacked(sent, bytes));
    this.root.setAttribute("aria-label", data.label);
    this.root.setAttribute("role", "group");
    this.build();
    this.draw();
    this.observer.observe(this.root);
    return () => {
      if (call === this.calls) this.observer.disconnect();
    };
  }

  /**
   * @param {Sent} sent
   * @param {Uint8Array<ArrayBuffer>} bytes
   * @returns {Drawn}
   */
  unpacked(sent, bytes) {
    const { offset } = sent;
    const count = sent.tiles * sent.rows * sent.columns;
    const box = { left: 0, top: 0, w: 0, h: 0, across: 0, down: 0, side: 1, lines: 1, wide: 0, high: 0 };
    return {
      ...sent,
      // A copy, because a Float32Array must begin at a multiple of four bytes.
      values: new Float32Array(bytes.slice(offset, offset + 4 * count).buffer),
      hidden: sent.masked ? bytes.subarray(offset + 4 * count, offset + 5 * count) : null,
      from: 0,
      to: sent.columns,
      each: [1, 1],
      box,
      canvas: make("canvas", { role: "application", tabindex: 0, "aria-label": sent.label, "aria-description": sent.says }),
      legend: make("div", { class: "legend", "aria-hidden": "true" }),
      ends: null,
      last: null,
    };
  }

  // --- the parts of the page

  build() {
    const boxes = this.panels.map((panel) => this.box(panel));
    const inputs = make("div", { class: "inputs" }, ...boxes.slice(0, -1));
    this.sign = make("div", { class: "sign", "data-words": "" }, this.data.operation);
    this.arrow = make("div", { class: "arrow", "aria-hidden": "true" });
    const operation = make("div", { class: "operation" }, this.sign, this.arrow);
    this.flow = make("div", { class: "flow" }, inputs, operation, boxes[boxes.length - 1]);
    this.notes = make("p", { class: "notes", "data-words": "" });
    this.sheet.replaceChildren(this.flow, this.notes);
  }

  /**
   * A panel with its title and its legend. If it has many columns, also with the fields that choose some of them.
   *
   * @param {Drawn} panel
   */
  box(panel) {
    this.listen(panel);
    const head = make(
      "div",
      { class: "title" },
      make("b", { "data-words": "" }, panel.title),
      make("span", { class: "shape" }, panel.shape),
    );
    /**
     * @param {string} arrow
     * @param {string} axis
     */
    const named = (arrow, axis) => (axis && axis !== "1" ? [`${arrow} ${axis}`] : []);
    const axes = [...named("↓", panel.axes[1]), ...named("→", panel.scale === "ids" ? "" : panel.axes[2])];
    if (axes.length) head.append(make("span", { class: "axes" }, axes.join(" ")));
    this.fillLegend(panel);
    const parts = [head, panel.canvas, panel.legend];
    if (panel.columns > this.data.most_columns) parts.push(this.columnFields(panel));
    const box = make("div", { class: "panel" }, ...parts);
    box.dataset.path = panel.path;
    return box;
  }

  /** @param {Drawn} panel */
  listen(panel) {
    const { canvas } = panel;
    canvas.addEventListener("pointermove", (event) => this.point(panel, event));
    canvas.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
    });
    // A finger that taps does not send "pointermove", and it sends "pointerleave" before the click.
    canvas.addEventListener("click", (event) => this.point(panel, event));
    canvas.addEventListener("keydown", (event) => this.key(panel, event));
    canvas.addEventListener("blur", () => this.leave());
    canvas.addEventListener("focus", () => {
      // After a click, the arrow keys must still step through the walk, so only focus by keyboard starts reading.
      if (canvas.matches(":focus-visible")) this.go(panel, panel.last ?? { tile: 0, r: 0, c: panel.from });
    });
    canvas.addEventListener("pointerdown", (event) => this.press(panel, event));
    canvas.addEventListener("pointerup", (event) => this.release(panel, event));
    canvas.addEventListener("dblclick", () => this.zoom(panel, 0, panel.columns));
  }

  /** @param {Drawn} panel */
  columnFields(panel) {
    const { text } = this.data;
    const most = panel.columns - 1;
    /**
     * @param {string} end
     * @param {number} value
     */
    const field = (end, value) => {
      const input = make("input", { type: "number", min: 0, max: most, value });
      input.setAttribute("aria-label", fillIn(text[end], { title: panel.title }));
      input.addEventListener("change", () => this.zoom(panel, Number(first.value), Number(last.value) + 1));
      // In this field, the arrow keys must not step to another tensor of the walk.
      input.addEventListener("keydown", (event) => event.stopPropagation());
      return input;
    };
    const [first, last] = [field("from", 0), field("to", most)];
    panel.ends = [first, last];
    const whole = make("button", { type: "button" }, text.whole);
    whole.addEventListener("click", () => this.zoom(panel, 0, panel.columns));
    return make("div", { class: "zoom" }, text.columns, first, "–", last, whole);
  }

  /** @param {Drawn} panel */
  fillLegend(panel) {
    const { text, colors } = this.data;
    const { legend, scale } = panel;
    if (scale === "signed" || scale === "weights") {
      const bar = make("span", { class: "bar" });
      bar.style.background = ramp(this.pixels[scale]);
      const ends = scale === "signed" ? [formatNumber(-panel.limit_label), formatNumber(panel.limit_label)] : ["0", "1"];
      legend.append(ends[0], bar, ends[1]);
    }
    if (scale === "mask") {
      const open = make("span", { class: "swatch" });
      open.style.background = panel.color;
      legend.append(make("span", {}, open, text.allowed));
    }
    if (panel.hidden?.includes(1)) legend.append(make("span", {}, make("span", { class: "swatch masked" }), text.masked));
    legend.style.setProperty("--masked", colors.masked);
    legend.style.setProperty("--line", colors.line);
  }

  // --- drawing

  draw() {
    const width = this.root.clientWidth;
    this.drawnWidth = width;
    if (!width || !this.panels.length) return;
    const placing = placePanels(this.panels, width, textScale());
    this.flow.classList.toggle("narrow", placing.narrow);
    this.flow.classList.toggle("stacked", placing.stacked);
    for (const panel of this.panels) this.paint(panel, placing);
    this.notes.textContent = [this.data.text.hint, ...this.binned()].join(" ");
    this.root.dataset.geometry = JSON.stringify({
      ...placing,
      panels: this.panels.map(({ path, box, each }) => ({ path, ...box, each })),
    });
    if (this.read?.last) this.go(this.read, this.read.last);
    this.root.dataset.painted = String(++this.painted);
  }

  /** Sentences about panels whose dots stand for several numbers: one sentence for each size of a dot. */
  binned() {
    /** @type {Map<string, string[]>} */
    const titles = new Map();
    for (const { title, each } of this.panels) {
      const size = each.join(" × ");
      if (each[0] * each[1] > 1) titles.set(size, [...(titles.get(size) ?? []), title]);
    }
    return [...titles].map(([each, names]) => fillIn(this.data.text.binned, { titles: names.join(", "), each }));
  }

  /**
   * @param {Drawn} panel
   * @param {Placing} placing
   */
  paint(panel, placing) {
    const { u, v, scale } = placing;
    const [labelSize, headSize] = [LABEL_SIZE * scale, HEAD_SIZE * scale];
    const { canvas } = panel;
    const context = penOf(canvas);
    const ratio = devicePixelRatio || 1;
    const { fontFamily, color } = getComputedStyle(this.root);
    context.font = `${labelSize}px ${fontFamily}`;
    /** @param {string[]} words */
    const widest = (words) => Math.max(0, ...words.map((word) => context.measureText(tokenText(word)).width));
    const { box, ids, rowTokens, columnTokens, heads, headWidth, headHeight, nth } = panelLayout(panel, placing, widest);
    panel.box = box;
    panel.each = dotSize(panel, box, ratio, this.data.most_columns);
    const { left, top, w, h, side, across, down } = box;
    // Setting the size also clears the canvas.
    canvas.width = Math.round(box.wide * ratio);
    canvas.height = Math.round(box.high * ratio);
    Object.assign(canvas.style, { width: `${box.wide}px`, height: `${box.high}px` });
    context.fillStyle = color;
    context.textBaseline = "middle";
    /**
     * @param {string} words
     * @param {number} size px
     * @param {CanvasTextAlign} align
     * @param {number} x px
     * @param {number} y px
     */
    const write = (words, size, align, x, y) => {
      context.font = `${size * ratio}px ${fontFamily}`;
      context.fillStyle = color;
      context.textAlign = align;
      context.fillText(words, x * ratio, y * ratio);
    };
    /**
     * @param {string} token
     * @param {number} size px
     */
    const label = (token, size) => {
      context.font = `${size * ratio}px ${fontFamily}`;
      return shortened(tokenText(token), LONGEST_LABEL * scale * ratio, (text) => context.measureText(text).width);
    };
    const rowSize = Math.min(labelSize, nth * v);
    for (const tile of range(panel.tiles)) {
      const [x, y] = [left + (tile % side) * across, top + Math.floor(tile / side) * down];
      this.paintTile(panel, tile, context, ratio, x, y);
      if (heads && side === 1) write(String(tile + 1), headSize, "right", headWidth - 4, y + h / 2);
      if (heads && side > 1) write(String(tile + 1), headSize, "center", x + w / 2, y - 7 * scale);
      rowTokens?.forEach((token, row) => {
        if (row % nth === 0) write(label(token, rowSize), rowSize, "right", x - 5, y + (row + 0.5) * v);
      });
      ids?.forEach((id, row) => {
        if (row % nth === 0) write(label(id, rowSize), rowSize, "center", x + w / 2, y + (row + 0.5) * v);
      });
    }
    if (!columnTokens || panel.from > 0 || panel.to < panel.columns) return;
    for (const tile of range(side)) {
      columnTokens.forEach((token, column) => {
        context.save();
        context.translate((left + tile * across + (column + 0.5) * u) * ratio, (top - 5 - headHeight) * ratio);
        context.rotate(-Math.PI / 2);
        write(label(token, labelSize), labelSize, "left", 0, 0);
        context.restore();
      });
    }
  }

  /**
   * The dots of a tile, in a frame.
   *
   * @param {Drawn} panel
   * @param {number} tile
   * @param {CanvasRenderingContext2D} context
   * @param {number} ratio
   * @param {number} x px
   * @param {number} y px
   */
  paintTile(panel, tile, context, ratio, x, y) {
    const { colors } = this.data;
    const [down, across] = dotCounts(panel);
    const levels = new Uint8Array(down * across);
    for (let row = 0; row < down; row++) {
      for (let column = 0; column < across; column++) levels[row * across + column] = dotLevel(panel, tile, row, column);
    }
    const { w, h } = panel.box;
    /** @type {import("../ui/paint.js").Box} */
    const place = [Math.round(x * ratio), Math.round(y * ratio), Math.round(w * ratio), Math.round(h * ratio)];
    if (levels.includes(MASKED_LEVEL)) fillHatched(context, ratio, colors, place);
    const pixels = panel.scale === "mask" ? pixelsOfColor(panel.color) : this.pixels[panel.scale];
    if (panel.scale !== "ids") paintCells(context, levels, down, across, pixels, place);
    context.strokeStyle = colors.line;
    context.lineWidth = 1;
    context.strokeRect(place[0] + 0.5, place[1] + 0.5, place[2] - 1, place[3] - 1);
  }

  /** The whole picture as an SVG. The cells are images of pixels. */
  drawn() {
    const sheet = new Sheet(this.flow);
    for (const { canvas } of this.panels) sheet.image(canvas);
    for (const words of this.flow.querySelectorAll(".title b, .shape, .axes")) sheet.write(words);
    const { color } = getComputedStyle(this.root);
    sheet.write(this.sign);
    sheet.rect(sheet.place(this.sign), { fill: "none", stroke: color, "stroke-width": 2, rx: 6 });
    const [x, y, width, height] = sheet.place(this.arrow);
    // The arrow points to the right, or down if the result is below the inputs.
    const right = width > height;
    const [x1, y1] = right ? [x, y + height / 2] : [x + width / 2, y];
    const [x2, y2] = right ? [x + width - 9, y1] : [x1, y + height - 9];
    sheet.add("line", { x1, y1, x2, y2, stroke: color, "stroke-width": 2 });
    const head = right ? "0,-6 9,0 0,6" : "-6,0 0,9 6,0";
    sheet.add("polygon", { points: head, transform: `translate(${x2},${y2})`, fill: color });
    this.panels.forEach((panel, index) => {
      const { legend, scale } = panel;
      for (const node of [legend, ...legend.children].flatMap((part) => [...part.childNodes])) {
        if (node.nodeType === Node.TEXT_NODE) sheet.write(node);
      }
      for (const swatch of legend.querySelectorAll(".swatch")) this.drawSwatch(sheet, swatch, panel);
      const bar = legend.querySelector(".bar");
      if (!bar || scale === "mask") return;
      sheet.raw(svgRamp(this.pixels[scale], `scale${index}`));
      sheet.rect(sheet.place(bar), { fill: `url(#scale${index})` });
    });
    return sheet.svg();
  }

  /**
   * Draw a sample of the legend. The sample for masked numbers is hatched, as in the picture.
   *
   * @param {Sheet} sheet
   * @param {Element} swatch
   * @param {Drawn} panel
   */
  drawSwatch(sheet, swatch, panel) {
    const [x, y, width, height] = sheet.place(swatch);
    const { masked, line } = this.data.colors;
    const hides = swatch.classList.contains("masked");
    sheet.rect([x, y, width, height], { fill: hides ? masked : panel.color });
    for (let left = x; hides && left < x + width - height / 2; left += HATCH_GAP) {
      sheet.add("line", { x1: left, y1: y + height, x2: Math.min(left + height, x + width), y2: y, stroke: line });
    }
  }

  // --- input

  /**
   * @param {Drawn} panel
   * @param {MouseEvent} event
   */
  point(panel, event) {
    const cell = cellAtPoint(panel, event.offsetX, event.offsetY);
    this.tip.hidden = !cell;
    if (cell) this.tell(panel, cell, event.clientX, event.clientY);
  }

  /**
   * Show what a dot stands for in a tooltip beside a point of the window.
   *
   * @param {Drawn} panel
   * @param {Cell} cell
   * @param {number} clientX
   * @param {number} clientY
   */
  tell(panel, cell, clientX, clientY) {
    const { tip } = this;
    tip.hidden = false;
    tip.replaceChildren(...this.description(panel, cell).map((line) => make("div", {}, line)));
    const { left, top, width, height } = this.root.getBoundingClientRect();
    const [x, y] = [clientX - left, clientY - top];
    const beside = x + 16 + tip.offsetWidth > width ? x - 16 - tip.offsetWidth : x + 16;
    const below = y + 14 + tip.offsetHeight > height ? y - 14 - tip.offsetHeight : y + 14;
    tip.style.left = `${Math.max(0, beside)}px`;
    tip.style.top = `${Math.max(0, below)}px`;
  }

  /**
   * Title, head, row, column and exact number of a cell. If its dot stands for several numbers, the numbers around the cell.
   *
   * @param {Drawn} panel
   * @param {Cell} cell
   */
  description(panel, { tile, r, c }) {
    const { text } = this.data;
    /**
     * @param {string} axis
     * @param {string[] | null} tokens
     * @param {number} index
     */
    const named = (axis, tokens, index) => {
      if (tokens) return `${axis} ${index}: ${tokenText(tokens[index])}`;
      return axis ? `${axis} ${index}` : "";
    };
    /** @param {number} row */
    const rowName = (row) => named(panel.axes[1], panel.row_tokens, row);
    /** @param {number} column */
    const columnName = (column) => (panel.scale === "ids" ? "" : named(panel.axes[2], panel.column_tokens, column));
    const cells = cellsOfDot(panel, { tile, r, c });
    const lines = [panel.title, panel.axes[0] ? `${panel.axes[0]} ${tile + 1}` : ""];
    if (cells.length === 1) {
      lines.push(rowName(r), columnName(c), this.value(panel, tile, r, c));
    } else {
      const index = cells.findIndex(([row, column]) => row === r && column === c);
      for (const [row, column] of entriesAround(cells, index, MOST_VALUES)) {
        const name = [rowName(row), named(panel.axes[2], panel.column_tokens, column)].join(", ");
        lines.push(`${name}: ${this.value(panel, tile, row, column)}`);
      }
      if (cells.length > MOST_VALUES) lines.push(fillIn(text.more, { count: cells.length - MOST_VALUES }));
    }
    return lines.filter(Boolean);
  }

  /**
   * The exact number of a cell as text, with a note if a mask hides it.
   *
   * @param {Drawn} panel
   * @param {number} tile
   * @param {number} row
   * @param {number} column
   */
  value({ scale, rows, columns, values, hidden }, tile, row, column) {
    const { text } = this.data;
    const index = (tile * rows + row) * columns + column;
    if (scale === "mask") return hidden?.[index] ? text.hidden : text.open;
    const value = formatNumber(values[index]);
    return hidden?.[index] ? fillIn(text.masked_value, { value }) : value;
  }

  /**
   * While a picture has the focus, let the keyboard move the mark from dot to dot.
   *
   * @param {Drawn} panel
   * @param {KeyboardEvent} event
   */
  key(panel, event) {
    if (this.read !== panel || !panel.last || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key !== "Escape" && !isStepKey(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    const cell = cellAfterKey(panel, panel.last, event.key);
    if (event.key === "Escape") panel.canvas.blur();
    else if (cell) this.go(panel, cell);
  }

  /**
   * Mark the dot of a cell, and let screen readers read its description aloud.
   *
   * @param {Drawn} panel
   * @param {Cell} cell
   */
  go(panel, { tile, r, c }) {
    // The cell may be outside the columns that are shown now.
    const cell = { tile, r, c: clamp(panel.from, c, panel.to - 1) };
    panel.last = cell;
    this.read = panel;
    const { left, top, width, height } = dotBox(panel, cell);
    const home = this.root.getBoundingClientRect();
    const canvas = panel.canvas.getBoundingClientRect();
    this.mark.hidden = false;
    Object.assign(this.mark.style, {
      left: `${canvas.left + left - home.left}px`,
      top: `${canvas.top + top - home.top}px`,
      width: `${width}px`,
      height: `${height}px`,
    });
    this.mark.scrollIntoView({ block: "nearest", inline: "nearest" });
    const { x, y } = this.mark.getBoundingClientRect();
    this.tell(panel, cell, x + width, y + height);
    this.says.textContent = Array.from(this.tip.children, (line) => line.textContent).join(", ");
  }

  leave() {
    this.read = null;
    this.tip.hidden = true;
    this.mark.hidden = true;
    this.says.textContent = "";
  }

  /**
   * @param {Drawn} panel
   * @param {PointerEvent} event
   */
  press(panel, event) {
    const cell = cellAtPoint(panel, event.offsetX, event.offsetY);
    this.pressed = cell && !event.button ? { panel, cell, clientX: event.clientX } : null;
  }

  /**
   * Show only the columns between the place where the pointer was pressed and the place where it was released.
   *
   * @param {Drawn} panel
   * @param {PointerEvent} event
   */
  release(panel, event) {
    const { pressed } = this;
    this.pressed = null;
    const cell = cellAtPoint(panel, event.offsetX, event.offsetY);
    if (pressed?.panel !== panel || !cell || Math.abs(event.clientX - pressed.clientX) < SHORTEST_DRAG) return;
    this.zoom(panel, Math.min(pressed.cell.c, cell.c), Math.max(pressed.cell.c, cell.c) + 1);
  }

  /**
   * Show only some columns.
   *
   * @param {Drawn} panel
   * @param {number} from
   * @param {number} to one past the last
   */
  zoom(panel, from, to) {
    [panel.from, panel.to] = columnsBetween(panel.columns, from, to);
    if (panel.ends) [panel.ends[0].value, panel.ends[1].value] = [String(panel.from), String(panel.to - 1)];
    this.tip.hidden = true;
    this.draw();
  }
}
