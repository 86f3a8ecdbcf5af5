// Every head as a small heatmap: a grid of tiles, laid out by the style sheet, and one canvas over all of them. With a canvas for
// each tile, Chromium needs 110 ms more for each frame of 32 × 32 tiles.

import { cellAfterKey, cellsUnder, columnsOfCaptions, shrunk } from "./cells.js";
import { equalBytes } from "./chart/unpack.js";
import { MASKED_LEVEL, pixelsOfScale, ramp, svgRamp, TOP_LEVEL } from "./colors.js";
import { clamp, closest, make, penOf, range, textScale, unchanged } from "./component.js";
import { fillIn, tokenText } from "./format.js";
import { paintLevels } from "./paint.js";
import { Sheet, answerWithPicture } from "./picture.js";
import { saidRows, strongestCell } from "./strongest.js";

const ROWS_SAID = 5; // most rows that the description of a head names
const FRAME = 6; // px for the frame of the first tile of a row
const HATCH = 6; // px between the strokes over masked cells in a saved picture

const touch = matchMedia("(hover: none)");

/** @typedef {[layer: number, head: number]} Tile */

/**
 * @typedef {{
 *   shape: [layers: number, heads: number, queries: number, keys: number],
 *   queries: string[], keys: string[], selected: Tile, tiles: Tile[] | null, captions: string[] | null,
 *   colors: { scale: string, masked: string, line: string, frame: string }, text: Record<string, string>,
 * }} Data
 */

/** @typedef {(name: string, value: unknown) => void} Send */

export class HeadGrid {
  /** @type {Data} */ data;
  /** @type {Uint8Array<ArrayBuffer>} */ levels;
  /** @type {Tile[]} */ tiles = [];
  /** @type {HTMLElement[]} */ elements = []; // of the tiles
  /** @type {import("./colors.js").Pixels} */ pixels;
  /** @type {Send} */ setTriggerValue;
  /** @type {[columns: number, rows: number] | null} */ resolution = null; // pixels of the map of each tile
  columns = 1; // tiles in a row
  selected = -1; // index of the selected tile
  cells = make("canvas", {}); // not on the page
  cursor = 0; // index of the tile that the arrow keys have reached
  arranged = ""; // what the places of the tiles depend on
  painted = 0;

  /**
   * Makes the elements that do not depend on the data.
   *
   * @param {HTMLElement} root
   * @param {Record<string, string>} text
   * @param {boolean} alone whether the grid is a component; false for a part of a component that makes its own picture
   */
  constructor(root, text, alone = true) {
    this.root = root;
    this.bar = make("span", { class: "bar" });
    const weight = make("span", {}, make("b", {}, text.bar), "0", this.bar, "1");
    this.swatch = make("span", { class: "swatch" });
    const masked = make("span", {}, this.swatch, text.bar_masked);
    this.legend = make("div", { class: "legend", "aria-hidden": "true" }, weight, masked);
    this.grid = make("div", { class: "grid", "aria-hidden": "true" });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.tip = make("div", { class: "tip", "aria-hidden": "true", hidden: "" });
    // With the role of an application, screen readers pass the arrow keys to the picture, and read the words below it.
    this.picture = make("div", { class: "picture", tabindex: 0, role: "application" }, this.grid, this.canvas, this.tip);
    this.says = make("p", { class: "says", role: "status", "aria-live": "polite" });
    this.sheet = make("div", { class: "sheet" }, this.legend, this.picture, this.says);
    this.root.replaceChildren(this.sheet);
    this.listen();
    if (alone) answerWithPicture(this.root, () => this.drawn());
    this.observer = new ResizeObserver(() => this.arrange() && this.paint());
  }

  listen() {
    const { picture, root } = this;
    picture.addEventListener("pointermove", (event) => {
      // A finger cannot hover; a tap picks.
      if (event.pointerType !== "touch") this.point(event);
    });
    picture.addEventListener("pointerleave", () => this.point(null));
    picture.addEventListener("pointerdown", () => {
      delete root.dataset.keyboard;
    });
    picture.addEventListener("click", (event) => {
      const index = this.tileOf(event);
      if (index >= 0) this.pick(index);
    });
    picture.addEventListener("keydown", (event) => this.key(event));
    picture.addEventListener("focus", () => {
      if (!picture.matches(":focus-visible")) return;
      root.dataset.keyboard = "";
      this.say(this.cursor);
    });
  }

  /**
   * Show new data. Returns the cleanup function, which Streamlit may call while the grid is still on the page (component.js).
   *
   * @param {Data} data
   * @param {Uint8Array<ArrayBuffer>} levels
   * @param {Send} setTriggerValue
   */
  update(data, levels, setTriggerValue) {
    const before = this.data;
    this.data = data;
    this.setTriggerValue = setTriggerValue;
    /** @param {...(keyof Data)} names */
    const same = (...names) => unchanged(before, data, ...names);
    const sameColors = same("colors");
    if (!sameColors) this.takeColors();
    const sameTiles = same("shape", "tiles", "captions");
    if (!sameTiles) this.build();
    const sameLevels = same("shape") && equalBytes(this.levels, levels);
    this.levels = levels;
    const sameTokens = sameLevels && same("queries", "keys");
    if (!sameTokens) this.point(null);
    const selected = this.tiles.findIndex(([layer, head]) => layer === data.selected[0] && head === data.selected[1]);
    if (!sameTiles || selected !== this.selected) this.cursor = Math.max(0, selected);
    const newWords = !sameTokens || !sameTiles || selected !== this.selected;
    this.selected = selected;
    // The labels beside the tiles get other widths when their font is loaded.
    for (const element of [this.root, ...this.elements.slice(0, 1)]) this.observer.observe(element);
    this.mark(); // first, because it makes a label bold, and so wider
    if (!sameTiles) this.arrange();
    if (!(sameColors && sameTiles && sameLevels)) this.paint();
    if (newWords && this.focused()) this.say(this.cursor);
    else if (newWords) this.write(this.hint());
    // Screen readers read this with the name of the picture, also if a person does not move through the tiles.
    if (newWords) this.picture.setAttribute("aria-description", this.told(this.cursor));
    return () => this.root.isConnected || this.observer.disconnect();
  }

  takeColors() {
    const { colors } = this.data;
    this.pixels = pixelsOfScale(colors.scale);
    this.bar.style.background = ramp(this.pixels);
    this.root.style.setProperty("--masked", colors.masked);
    this.root.style.setProperty("--line", colors.line);
    this.root.style.setProperty("--frame", colors.frame);
  }

  /** Make the tiles and their labels. */
  build() {
    const { text, shape, tiles, captions } = this.data;
    const [layers, heads] = shape;
    this.tiles = tiles ?? range(layers * heads).map((index) => [Math.floor(index / heads), index % heads]);
    this.resolution = null;
    this.canvas.width = 0; // without tiles, nothing is painted
    this.root.dataset.tiles = String(this.tiles.length);
    const values = { layers, heads, tiles: this.tiles.length, hint: this.hint() };
    this.picture.setAttribute("aria-label", fillIn(tiles ? text.flow : text.picture, values));
    this.elements = this.tiles.map(([layer, head]) => {
      // The first two rows and columns of the grid have the labels.
      const area = captions ? "auto" : `${layer + 3} / ${head + 3}`;
      const name = [layer + 1, head + 1].join();
      return make("div", { class: "tile", "data-tile": name, style: `grid-area: ${area}` });
    });
    /** @type {(role: string, long: string, short?: string | number, area?: string) => HTMLElement} */
    const label = (role, long, short = long, area = "auto") => {
      const attributes = { class: `label ${role}`, style: `grid-area: ${area}`, "data-long": long, "data-short": short };
      return make("div", attributes, long);
    };
    const labels = [
      label("title", text.heads, text.heads, "1 / 3 / 2 / -1"),
      label("title down", text.layers, text.layers, "3 / 1 / -1"),
      ...range(heads).map((head) => label("column", fillIn(text.head, { head: head + 1 }), head + 1, `2 / ${head + 3}`)),
      ...range(layers).map((layer) => label("row", fillIn(text.layer, { layer: layer + 1 }), layer + 1, `${layer + 3} / 2`)),
    ];
    const boxes = captions?.map((says, index) => make("div", {}, this.elements[index], label("caption", says)));
    this.grid.classList.toggle("captioned", captions !== null);
    this.grid.replaceChildren(...(boxes ?? [...labels, ...this.elements]));
  }

  // --- layout

  /**
   * The labels with a role.
   *
   * @param {string} role
   */
  labels(role) {
    return /** @type {HTMLElement[]} */ ([...this.grid.querySelectorAll(`.label.${role}`)]);
  }

  /** Fit the labels and the number of columns into the width. Returns whether the tiles may have moved. */
  arrange() {
    const [layers, heads, queries, keys] = this.data.shape;
    const { grid, root, tiles, elements } = this;
    if (!root.clientWidth) return false;
    const labels = /** @type {HTMLElement[]} */ ([...grid.querySelectorAll(".label")]);
    /** @param {"long" | "short"} length */
    const write = (length) => {
      grid.classList.toggle("short", length === "short");
      for (const label of labels) label.textContent = label.dataset[length] ?? "";
    };
    write("long");
    const widest = Math.max(0, ...[...this.labels("column"), ...this.labels("caption")].map(widthOf));
    const isFlow = this.data.captions !== null;
    const room = { width: root.clientWidth - FRAME, least: widest, scale: textScale() };
    this.columns = isFlow ? columnsOfCaptions(tiles.length, room) : heads;
    grid.style.setProperty("--least", `${widest}px`);
    grid.style.setProperty("--columns", String(this.columns));
    grid.style.setProperty("--rows", String(isFlow ? Math.ceil(tiles.length / this.columns) : layers));
    // If "head 12" does not fit above a tile, only its number is written there, and the word is written once for all tiles.
    if (!isFlow && this.labels("column").some((label) => label.clientWidth < widest)) write("short");
    if (!elements.length) return false;
    const { clientWidth, clientHeight } = elements[0];
    const before = this.arranged;
    // At most one cell per px of the page, also on a dense screen. A tile may be drawn one px smaller, and no cell may be lost.
    this.resolution = [Math.min(keys, clientWidth - 1), Math.min(queries, clientHeight - 1)];
    this.arranged = [root.clientWidth, devicePixelRatio, elements[0].getBoundingClientRect().width, this.resolution].join();
    return this.arranged !== before;
  }

  // --- pointer and keys

  /**
   * The index of the tile that an event is on; −1 if it is on none.
   *
   * @param {Event} event
   */
  tileOf(event) {
    const tile = closest(event, ".tile");
    return tile ? this.elements.indexOf(tile) : -1;
  }

  /**
   * The cell under the pointer. If several cells share a pixel, the strongest one, because the pixel has its colour.
   *
   * @param {number} index
   * @param {MouseEvent} event
   */
  cellAt(index, event) {
    const [, heads, queries, keys] = this.data.shape;
    const { left, top, width, height } = this.elements[index].getBoundingClientRect();
    const [x, y] = [(event.clientX - left) / width, (event.clientY - top) / height];
    if (!this.resolution || x < 0 || y < 0 || x >= 1 || y >= 1) return null;
    const [columns, rows] = this.resolution;
    const [layer, head] = this.tiles[index];
    const [ofQueries, ofKeys] = [cellsUnder(y * rows, rows, queries), cellsUnder(x * columns, columns, keys)];
    return strongestCell(this.levels, [queries, keys], layer * heads + head, ofQueries, ofKeys);
  }

  /** @param {MouseEvent | null} event */
  point(event) {
    const { tip } = this;
    const index = event ? this.tileOf(event) : -1;
    const cell = event && index >= 0 ? this.cellAt(index, event) : null;
    tip.hidden = !cell;
    if (!cell || !event) return;
    const { text, queries, keys } = this.data;
    const words = {
      place: this.named(index),
      query: fillIn(text.query, { index: cell.query, token: tokenText(queries[cell.query]) }),
      key: fillIn(text.key, { index: cell.key, token: tokenText(keys[cell.key]) }),
      value: this.weight(cell.level),
    };
    tip.replaceChildren(...Object.entries(words).map(([name, says]) => make("div", { class: name }, says)));
    const picture = this.picture.getBoundingClientRect();
    const [x, y] = [event.clientX - picture.left, event.clientY - picture.top];
    const [width, height] = [tip.offsetWidth, tip.offsetHeight];
    const beside = x + 16 + width > picture.width ? x - 16 - width : x + 16;
    tip.style.left = `${clamp(0, beside, picture.width - width)}px`;
    tip.style.top = `${y > picture.height / 2 ? y - 12 - height : y + 20}px`;
  }

  /** @param {number} index */
  pick(index) {
    this.cursor = index;
    this.mark();
    this.setTriggerValue("pick", [...this.tiles[index]]);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !this.tiles.length) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (!event.repeat) this.pick(this.cursor);
      return;
    }
    const index = cellAfterKey(event.key, this.cursor, this.columns, this.tiles.length);
    if (index === null) return;
    event.preventDefault();
    this.root.dataset.keyboard = "";
    this.cursor = index;
    this.mark();
    this.say(index);
    this.point(null);
  }

  focused() {
    const tree = /** @type {ShadowRoot} */ (this.root.getRootNode());
    return "keyboard" in this.root.dataset && tree.activeElement === this.picture;
  }

  // --- words

  hint() {
    return touch.matches ? this.data.text.tap : this.data.text.hint;
  }

  /** @param {number} index */
  named(index) {
    const [layer, head] = this.tiles[index];
    return fillIn(this.data.text.tile, { layer: layer + 1, head: head + 1 });
  }

  /** @param {number} level */
  weight(level) {
    const { text } = this.data;
    if (level === MASKED_LEVEL) return text.masked;
    return level ? fillIn(text.weight, { weight: (level / TOP_LEVEL).toFixed(3) }) : text.least;
  }

  /**
   * A description of a tile for a person who does not see it.
   *
   * @param {number} index
   */
  told(index) {
    const { text, shape, queries, keys, captions } = this.data;
    if (!this.tiles.length) return "";
    const [layer, head] = this.tiles[index];
    const tile = captions ? `${this.named(index)} (${captions[index]})` : this.named(index);
    const rows = saidRows(text, { queries, keys }, this.levels, layer * shape[1] + head, ROWS_SAID);
    const says = fillIn(rows ? text.strongest : text.all_masked, { tile, rows });
    return index === this.selected ? `${says} ${text.chosen}` : says;
  }

  /**
   * Write the description of a tile below the picture.
   *
   * @param {number} index
   */
  say(index) {
    if (this.tiles.length) this.write(this.told(index));
  }

  /** @param {string} says */
  write(says) {
    if (this.says.textContent !== says) this.says.textContent = says;
  }

  // --- drawing

  /** Mark the selected tile and its labels, and the keyboard's tile. */
  mark() {
    const [layer, head] = this.tiles[this.selected] ?? [];
    this.elements.forEach((tile, index) => {
      tile.classList.toggle("selected", index === this.selected);
      tile.classList.toggle("cursor", index === this.cursor);
    });
    for (const [role, chosen] of /** @type {const} */ ([
      ["row", layer],
      ["column", head],
      ["caption", this.selected],
    ])) {
      for (const [index, label] of this.labels(role).entries()) label.classList.toggle("on", index === chosen);
    }
  }

  /** Paint the map of each tile. If a map has more cells than pixels, a pixel has the colour of its strongest cell. */
  paint() {
    if (!this.resolution) return;
    const { canvas } = this;
    const around = this.picture.getBoundingClientRect();
    const at = (/** @type {number} */ px) => Math.round(px * devicePixelRatio);
    Object.assign(canvas, { width: at(around.width), height: at(around.height) });
    canvas.style.width = `${canvas.width / devicePixelRatio}px`;
    const pen = penOf(canvas);
    pen.imageSmoothingEnabled = false;
    this.elements.forEach((tile, index) => {
      const { left, top, right, bottom } = tile.getBoundingClientRect();
      // The browser, too, moves each edge to a pixel of the screen.
      const [x, y] = [at(left) - at(around.left), at(top) - at(around.top)];
      pen.drawImage(this.mapOf(index), x, y, at(right) - at(left), at(bottom) - at(top));
    });
    this.painted += 1;
    this.root.dataset.painted = String(this.painted);
  }

  /**
   * The map of a tile on a canvas that has a pixel for each of its cells. The next call paints on the same canvas.
   *
   * @param {number} index
   */
  mapOf(index) {
    const [columns, rows] = this.resolution ?? [0, 0];
    const [, heads, queries, keys] = this.data.shape;
    const [layer, head] = this.tiles[index];
    const levels = shrunk(this.levels, [queries, keys], layer * heads + head, rows, columns);
    paintLevels(this.cells, levels, columns, rows, this.pixels);
    return this.cells;
  }

  /** The whole grid as an SVG, in which the cells are pixels of an image. */
  drawn() {
    const sheet = new Sheet(this.sheet);
    this.drawOn(sheet);
    return sheet.svg();
  }

  /**
   * Draw the grid at its place on a sheet. The sheet shows an element that contains the grid.
   *
   * @param {Sheet} sheet
   */
  drawOn(sheet) {
    const { colors } = this.data;
    for (const words of this.legend.children) {
      for (const node of words.childNodes) {
        if (node instanceof Text || (node instanceof Element && node.matches("b"))) sheet.write(node);
      }
    }
    const turned = `patternUnits="userSpaceOnUse" patternTransform="rotate(45)"`;
    const stroke = `<path d="M0 0V${HATCH}" stroke="${colors.line}" stroke-width="2.4"/>`;
    sheet.raw(svgRamp(this.pixels, "scale"));
    sheet.raw(`<pattern id="hatch" width="${HATCH}" height="${HATCH}" ${turned}>${stroke}</pattern>`);
    sheet.rect(sheet.place(this.bar), { fill: "url(#scale)" });
    [this.swatch, ...this.elements].forEach((element, place) => {
      for (const fill of [colors.masked, "url(#hatch)"]) sheet.rect(sheet.place(element), { fill });
      if (place) sheet.image(this.mapOf(place - 1), sheet.place(element));
    });
    for (const label of this.grid.querySelectorAll(".label")) sheet.write(label);
    if (this.selected >= 0) {
      const frame = { fill: "none", stroke: colors.frame, "stroke-width": 4 };
      const [left, top, across, down] = sheet.place(this.elements[this.selected]);
      sheet.rect([left - 2.5, top - 2.5, across + 5, down + 5], frame);
    }
  }
}

/**
 * The width of the text of an element, in px, also if the element is narrower.
 *
 * @param {HTMLElement} element
 */
function widthOf(element) {
  const words = document.createRange();
  words.selectNodeContents(element);
  return words.getBoundingClientRect().width;
}
