// Every head as a small heatmap, all on one canvas. Labels and frames are elements above the canvas. So selecting a tile does
// not repaint the canvas, and the text has the theme's colours.

import { pixelsOfScale, ramp, svgRamp } from "./colors.js";
import { clamp, make, penOf, range, textScale, unchanged } from "./component.js";
import { themeColor } from "./compat.js";
import { fillIn, tokenText } from "./format.js";
import { hatchPattern } from "./paint.js";
import { equalBytes } from "./parcel.js";
import { Sheet, answerWithPicture } from "./picture.js";
import { captionedLayout, cellsUnder, cornerOf, gridLayout, tileAfterKey, tileAt } from "./head_grid_layout.js";
import { saidRows, strongestCell } from "./strongest.js";

const NARROW_GRID = 560; // px; a narrower grid has the labels and gutters of a phone

const ROWS_SAID = 5; // most rows that the description of a head names

const touch = matchMedia("(hover: none)");

/** @typedef {import("./head_grid_layout.js").Tile} Tile */

/**
 * @typedef {{
 *   shape: [layers: number, heads: number, queries: number, keys: number],
 *   queries: string[], keys: string[], selected: Tile, tiles: Tile[] | null, captions: string[] | null,
 *   colors: { scale: string, masked: string, line: string, frame: string },
 *   top: number, masked_level: number, text: Record<string, string>,
 * }} Data
 */

/** @typedef {(name: string, value: unknown) => void} Send */

export class HeadGrid {
  /** @type {Data} */ data;
  /** @type {Uint8Array<ArrayBuffer>} */ levels;
  /** @type {Tile[]} */ tiles = [];
  /** @type {import("./colors.js").Pixels} */ pixels;
  /** @type {Send} */ setTriggerValue;
  /** @type {import("./head_grid_layout.js").Layout | null} */ layout = null;
  layoutKey = ""; // the layout and what it was made for; a new key means that tiles have moved
  scheme = "";
  selected = -1; // index of the selected tile
  cursor = 0; // index of the tile that the arrow keys have reached
  calls = 0;
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
    // With the role of an application, screen readers pass the arrow keys to the canvas, and read the words below it.
    this.canvas = make("canvas", { tabindex: 0, role: "application" });
    this.labels = make("div", { class: "labels", "aria-hidden": "true" });
    /** @param {string} name */
    const frame = (name) => make("div", { class: `frame ${name}`, hidden: "" });
    this.frames = { selected: frame("selected"), pointed: frame("pointed"), cursor: frame("cursor") };
    this.tip = make("div", { class: "tip", "aria-hidden": "true", hidden: "" });
    this.lines = ["place", "query", "key", "value"].map((name) => make("div", { class: name }));
    this.tip.append(...this.lines);
    this.picture = make("div", { class: "picture" }, this.canvas, this.labels, ...Object.values(this.frames), this.tip);
    this.says = make("p", { class: "says", role: "status", "aria-live": "polite" });
    this.sheet = make("div", { class: "sheet" }, this.legend, this.picture, this.says);
    this.root.replaceChildren(this.sheet);
    this.atlas = document.createElement("canvas");
    this.listen();
    if (alone) answerWithPicture(this.root, () => this.drawn());
    this.observer = new ResizeObserver(() => this.resized());
  }

  listen() {
    const { canvas, root } = this;
    canvas.addEventListener("pointermove", (event) => {
      // A finger cannot hover; a tap picks.
      if (event.pointerType !== "touch") this.point(event);
    });
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("pointerdown", () => {
      delete root.dataset.keyboard;
    });
    canvas.addEventListener("click", (event) => {
      const index = this.tileAt(event);
      if (index !== null) this.pick(index);
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => {
      if (!canvas.matches(":focus-visible")) return;
      root.dataset.keyboard = "";
      this.say(this.cursor);
    });
  }

  /**
   * Show new data. Returns a cleanup function, which undoes only this call, because it may run after the next call.
   *
   * @param {Data} data
   * @param {Uint8Array<ArrayBuffer>} levels
   * @param {Send} setTriggerValue
   */
  update(data, levels, setTriggerValue) {
    const call = ++this.calls;
    const before = this.data;
    this.data = data;
    this.setTriggerValue = setTriggerValue;
    /** @param {...(keyof Data)} names */
    const same = (...names) => unchanged(before, data, ...names);
    const { root } = this;
    const style = getComputedStyle(root);
    const scheme = [style.color, themeColor(root, "background-color"), style.fontFamily].join();
    const sameColors = same("colors", "top") && scheme === this.scheme;
    this.scheme = scheme;
    if (!sameColors) this.takeColors();
    const sameTiles = same("shape", "tiles", "captions");
    if (!sameTiles) this.takeTiles();
    const sameLevels = same("shape") && equalBytes(this.levels, levels);
    this.levels = levels;
    const sameTokens = sameLevels && same("queries", "keys");
    if (!sameTokens) this.point(null);
    const selected = this.tiles.findIndex(([layer, head]) => layer === data.selected[0] && head === data.selected[1]);
    if (!sameTiles || selected !== this.selected) this.cursor = Math.max(0, selected);
    const newWords = !sameTokens || !sameTiles || selected !== this.selected;
    this.selected = selected;
    this.observer.observe(root);
    const moved = this.arrange();
    if (moved || !(sameColors && sameTiles && sameLevels)) this.paint();
    this.mark();
    if (newWords && this.focused()) this.say(this.cursor);
    else if (newWords) this.write(this.hint());
    // Screen readers read this with the name of the picture, also if a person does not move through the tiles.
    if (newWords) this.canvas.setAttribute("aria-description", this.told(this.cursor));
    return () => {
      if (call === this.calls) this.observer.disconnect();
    };
  }

  takeColors() {
    const { colors } = this.data;
    this.pixels = pixelsOfScale(colors.scale);
    this.bar.style.background = ramp(this.pixels);
    this.root.style.setProperty("--masked", colors.masked);
    this.root.style.setProperty("--line", colors.line);
    this.root.style.setProperty("--frame", colors.frame);
  }

  takeTiles() {
    const { text, shape, tiles } = this.data;
    const [layers, heads] = shape;
    this.tiles = tiles ?? range(layers * heads).map((index) => [Math.floor(index / heads), index % heads]);
    this.root.dataset.tiles = String(this.tiles.length);
    const values = { layers, heads, tiles: this.tiles.length, hint: this.hint() };
    this.canvas.setAttribute("aria-label", fillIn(tiles ? text.flow : text.picture, values));
  }

  // --- layout

  resized() {
    if (this.arrange()) {
      this.paint();
      this.mark();
    }
  }

  /** Compute the place of every tile; returns whether the layout has changed. */
  arrange() {
    const width = this.root.clientWidth;
    if (!width) return false;
    const { text, shape, captions } = this.data;
    const narrow = width < NARROW_GRID;
    const size = (narrow ? 12.5 : 16) * textScale();
    const style = this.root.style;
    style.setProperty("--size", `${size}px`);
    style.setProperty("--thick", narrow ? "3px" : "5px");
    style.setProperty("--away", narrow ? "0px" : "1px");
    const font = getComputedStyle(this.root).fontFamily;
    const context = penOf(this.atlas);
    /** @param {string[]} texts */
    const measured = (texts) => {
      context.font = `700 ${size}px ${font}`;
      return Math.ceil(Math.max(0, ...texts.map((words) => context.measureText(words).width)));
    };
    const room = { width, narrow, size, measured };
    const layout = captions ? captionedLayout(room, captions) : gridLayout(room, shape[0], shape[1], text);
    const key = JSON.stringify([layout, devicePixelRatio, shape, captions]);
    if (key === this.layoutKey) return false;
    this.layoutKey = key;
    this.layout = layout;
    this.root.dataset.geometry = JSON.stringify({ ...layout, labels: undefined });
    this.picture.style.width = `${layout.width}px`;
    this.picture.style.height = `${layout.height}px`;
    const labels = layout.labels.map(({ says, role, tile, ...box }) => {
      const label = make("div", { class: `label ${role}`, "data-tile": tile ?? "" }, says);
      for (const [name, value] of Object.entries(box)) label.style.setProperty(name, `${value}px`);
      return label;
    });
    this.labels.replaceChildren(...labels);
    return true;
  }

  /** @param {MouseEvent} event */
  tileAt(event) {
    return this.layout && tileAt(this.layout, this.tiles.length, event.offsetX, event.offsetY);
  }

  /**
   * The cell under the pointer. If several cells share a pixel, the strongest one, because the pixel has its colour.
   *
   * @param {number} index
   * @param {number} x
   * @param {number} y
   */
  cellAt(index, x, y) {
    if (!this.layout) return null;
    const [, heads, queries, keys] = this.data.shape;
    const { w, h } = this.layout;
    const [left, top] = cornerOf(this.layout, index);
    if (x < left || y < top || x >= left + w || y >= top + h) return null;
    const [layer, head] = this.tiles[index];
    return this.strongest(layer * heads + head, cellsUnder(y - top, h, queries), cellsUnder(x - left, w, keys));
  }

  /**
   * @param {number} map
   * @param {[number, number]} queries
   * @param {[number, number]} keys
   */
  strongest(map, queries, keys) {
    const { shape, masked_level } = this.data;
    return strongestCell(this.levels, [shape[2], shape[3]], masked_level, map, queries, keys);
  }

  // --- pointer and keys

  /** @param {MouseEvent | null} event */
  point(event) {
    const { tip, frames } = this;
    const [x, y] = event ? [event.offsetX, event.offsetY] : [0, 0];
    const index = event ? this.tileAt(event) : null;
    const cell = index === null ? null : this.cellAt(index, x, y);
    this.put(frames.pointed, index !== null && cell ? index : -1);
    tip.hidden = !cell;
    if (!cell || index === null) return;
    const { text, queries, keys } = this.data;
    const says = [
      this.named(index),
      fillIn(text.query, { index: cell.query, token: tokenText(queries[cell.query]) }),
      fillIn(text.key, { index: cell.key, token: tokenText(keys[cell.key]) }),
      this.weight(cell.level),
    ];
    this.lines.forEach((line, at) => {
      line.textContent = says[at];
    });
    const { clientWidth, clientHeight } = this.picture;
    const [width, height] = [tip.offsetWidth, tip.offsetHeight];
    const beside = x + 16 + width > clientWidth ? x - 16 - width : x + 16;
    tip.style.left = `${clamp(0, beside, clientWidth - width)}px`;
    tip.style.top = `${y > clientHeight / 2 ? y - 12 - height : y + 20}px`;
  }

  /** @param {number} index */
  pick(index) {
    this.cursor = index;
    this.mark();
    this.setTriggerValue("pick", [...this.tiles[index]]);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !this.layout) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (!event.repeat) this.pick(this.cursor);
      return;
    }
    const index = tileAfterKey(event.key, this.cursor, this.layout.columns, this.tiles.length);
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
    return "keyboard" in this.root.dataset && tree.activeElement === this.canvas;
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
    const { text, top, masked_level } = this.data;
    if (level === masked_level) return text.masked;
    return level ? fillIn(text.weight, { weight: (level / top).toFixed(3) }) : text.least;
  }

  /**
   * A description of a tile for a person who does not see it.
   *
   * @param {number} index
   */
  told(index) {
    const { text, shape, queries, keys, captions, top, masked_level: masked } = this.data;
    if (!this.tiles.length) return "";
    const [layer, head] = this.tiles[index];
    const tile = captions ? `${this.named(index)} (${captions[index]})` : this.named(index);
    const rows = saidRows(text, { queries, keys, top, masked }, this.levels, layer * shape[1] + head, ROWS_SAID);
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

  /** Place the frames of the selected tile and of the keyboard's tile, and mark the labels of the selected tile. */
  mark() {
    const { root, frames, tiles, selected, cursor } = this;
    if (!this.layout) return;
    this.put(frames.selected, selected);
    this.put(frames.cursor, tiles.length ? cursor : -1);
    /** @param {number} index */
    const named = (index) => (tiles[index] ? tiles[index].map((at) => at + 1).join() : "");
    root.dataset.selected = named(selected);
    root.dataset.cursor = named(cursor);
    const chosen = tiles[selected];
    for (const label of /** @type {Iterable<HTMLElement>} */ (this.labels.children)) {
      const tile = label.dataset.tile ? tiles[Number(label.dataset.tile)] : undefined;
      const [isRow, isColumn] = ["row", "column"].map((role) => label.classList.contains(role));
      const on = tile && (isRow || tile[1] === chosen?.[1]) && (isColumn || tile[0] === chosen?.[0]);
      label.classList.toggle("on", Boolean(on));
    }
  }

  /**
   * @param {HTMLElement} frame
   * @param {number} index the tile inside the frame; −1 hides the frame
   */
  put(frame, index) {
    frame.hidden = index < 0 || !this.layout;
    if (index < 0 || !this.layout) return;
    const { w, h } = this.layout;
    const [left, top] = cornerOf(this.layout, index);
    Object.assign(frame.style, { left: `${left}px`, top: `${top}px`, width: `${w}px`, height: `${h}px` });
  }

  paint() {
    const { canvas, layout, tiles } = this;
    if (!layout) return;
    const { colors, shape } = this.data;
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(layout.width * ratio);
    canvas.height = Math.round(layout.height * ratio);
    canvas.style.width = `${layout.width}px`;
    canvas.style.height = `${layout.height}px`;
    const context = penOf(canvas);
    context.imageSmoothingEnabled = false;
    // At most one cell per px of the page, because `drawImage` would skip some cells if there were more. A dense screen has
    // smaller pixels, but a cell of one such pixel would be too small to see.
    const rows = Math.min(shape[2], layout.h);
    const columns = Math.min(shape[3], layout.w);
    const hatch = hatchPattern(context, ratio, colors.line);
    this.shade(rows, columns);
    tiles.forEach(([layer, head], index) => {
      const [left, top] = cornerOf(layout, index).map((at) => Math.round(at * ratio));
      const [width, height] = [Math.round(layout.w * ratio), Math.round(layout.h * ratio)];
      for (const style of [colors.masked, hatch]) {
        context.fillStyle = style;
        context.fillRect(left, top, width, height);
      }
      if (!rows || !columns) return;
      context.drawImage(this.atlas, head * columns, layer * rows, columns, rows, left, top, width, height);
    });
    this.painted += 1;
    this.root.dataset.painted = String(this.painted);
  }

  /**
   * Paint all maps side by side on `atlas`, with a pixel for each cell. If a map has more cells than pixels, a pixel has the
   * colour of its strongest cell.
   *
   * @param {number} rows
   * @param {number} columns
   */
  shade(rows, columns) {
    const [layers, heads, queries, keys] = this.data.shape;
    const { atlas, levels, pixels } = this;
    if (!layers || !heads || !rows || !columns) return;
    atlas.width = heads * columns;
    atlas.height = layers * rows;
    const image = new ImageData(atlas.width, atlas.height);
    const shades = new Uint32Array(image.data.buffer);
    const every = rows === queries && columns === keys;
    const ofQueries = range(rows).map((row) => cellsUnder(row, rows, queries));
    const ofKeys = range(columns).map((column) => cellsUnder(column, columns, keys));
    for (let map = 0; map < layers * heads; map++) {
      const corner = Math.floor(map / heads) * rows * atlas.width + (map % heads) * columns;
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          const level = every
            ? levels[(map * queries + row) * keys + column]
            : (this.strongest(map, ofQueries[row], ofKeys[column])?.level ?? this.data.masked_level);
          shades[corner + row * atlas.width + column] = pixels[level];
        }
      }
    }
    penOf(atlas).putImageData(image, 0, 0);
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
    const { data } = this;
    for (const words of this.legend.children) {
      for (const node of words.childNodes) {
        if (node instanceof Text || (node instanceof Element && node.matches("b"))) sheet.write(node);
      }
    }
    sheet.raw(svgRamp(this.pixels, "scale"));
    sheet.rect(sheet.place(this.bar), { fill: "url(#scale)" });
    sheet.rect(sheet.place(this.swatch), { fill: data.colors.masked });
    sheet.image(this.canvas);
    for (const label of this.labels.children) sheet.write(label);
    if (this.selected >= 0) {
      const frame = { fill: "none", stroke: data.colors.frame, "stroke-width": 4 };
      const [left, top, across, down] = sheet.place(this.frames.selected);
      sheet.rect([left - 2.5, top - 2.5, across + 5, down + 5], frame);
    }
  }
}
