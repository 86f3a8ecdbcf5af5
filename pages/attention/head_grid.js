// Every head as a small heatmap, all on one canvas. Labels and frames are elements over it, so selecting a tile repaints
// nothing, and text follows the theme.

import { decodeBase64, fillIn, make, range, tokenText, unchanged, viewOf } from "../ui/component.js";
import { equalBytes, unpackParcel } from "../ui/parcel.js";
import { Sheet, answerWithPicture } from "../ui/picture.js";

const TALLEST = 545; // px of tiles and labels; with legend and words the whole stays below 620
const LARGEST = 220; // px, the side of a tile
const SMALLEST = 14; // px, the height of a tile where there are very many layers
const READABLE = 56; // px, the same where tiles have captions: then the picture grows instead
const WIDEST = 1.5; // width of a tile ÷ its height, at most
const NARROW = 560; // px: below, labels and gutters are those of a phone
const HATCH = 6; // px between the strokes over masked cells

const fingers = matchMedia("(hover: none)");

export default function overview({ data: sent, parentElement, setTriggerValue }) {
  const [data, levels] = unpackParcel(sent);
  const root = parentElement.querySelector(".head_grid");
  return viewOf(root, () => new View(root, data.text)).update(data, levels, setTriggerValue);
}

class View {
  constructor(root, text) {
    this.root = root;
    this.calls = 0;
    this.painted = 0;
    this.cursor = 0; // index of the tile the arrow keys are at
    this.build(text);
    this.observer = new ResizeObserver(() => this.resized());
  }

  // The parts that stay whatever the data are.
  build(text) {
    this.bar = make("span", { class: "bar" });
    const weight = make("span", {}, make("b", {}, text.bar), "0", this.bar, "1");
    const masked = make("span", {}, make("span", { class: "swatch" }), text.bar_masked);
    const legend = make("div", { class: "legend", "aria-hidden": "true" }, weight, masked);
    // An application: a screen reader hands the arrow keys on, and reads what the words below say.
    this.canvas = make("canvas", { tabindex: 0, role: "application" });
    this.labels = make("div", { class: "labels", "aria-hidden": "true" });
    this.frames = {};
    for (const name of ["selected", "pointed", "cursor"]) this.frames[name] = make("div", { class: `frame ${name}`, hidden: "" });
    this.tip = make("div", { class: "tip", "aria-hidden": "true", hidden: "" });
    this.lines = ["place", "query", "key", "value"].map((name) => make("div", { class: name }));
    this.tip.append(...this.lines);
    this.picture = make("div", { class: "picture" }, this.canvas, this.labels, ...Object.values(this.frames), this.tip);
    this.says = make("p", { class: "says", role: "status", "aria-live": "polite" });
    this.sheet = make("div", { class: "sheet" }, legend, this.picture, this.says);
    this.root.replaceChildren(this.sheet);
    this.atlas = document.createElement("canvas");
    this.listen();
    answerWithPicture(this.root, () => this.drawn());
  }

  listen() {
    const { canvas, root } = this;
    // A finger does not hover: it picks.
    canvas.addEventListener("pointermove", (event) => event.pointerType !== "touch" && this.point(event));
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("pointerdown", () => delete root.dataset.keyboard);
    canvas.addEventListener("click", (event) => {
      const index = this.tileAt(event.offsetX, event.offsetY);
      if (index !== null) this.pick(index);
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => {
      if (!canvas.matches(":focus-visible")) return;
      root.dataset.keyboard = "";
      this.say(this.cursor);
    });
  }

  // Take new data; the cleanup undoes this call only, as a late one may come after the next call.
  update(data, levels, setTriggerValue) {
    const call = ++this.calls;
    const before = this.data;
    this.data = data;
    this.setTriggerValue = setTriggerValue;
    const same = (...names) => unchanged(before, data, ...names);
    const { root } = this;
    const style = getComputedStyle(root);
    const scheme = [style.color, style.getPropertyValue("--st-background-color"), style.fontFamily].join();
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
    const words = !sameTokens || !sameTiles || selected !== this.selected;
    this.selected = selected;
    this.observer.observe(root);
    const moved = this.layout();
    if (moved || !(sameColors && sameTiles && sameLevels)) this.paint();
    this.mark();
    if (words) this.focused() ? this.say(this.cursor) : this.write(this.hint());
    return () => {
      if (call === this.calls) this.observer.disconnect();
    };
  }

  takeColors() {
    const { colors } = this.data;
    const scale = decodeBase64(colors.scale);
    this.pixels = new Uint32Array(256); // what is not a weight stays transparent: the hatch below shows
    const bytes = new Uint8Array(this.pixels.buffer);
    const shades = [];
    for (let level = 0; level * 3 < scale.length; level++) {
      const shade = scale.subarray(3 * level, 3 * level + 3);
      bytes.set([...shade, 255], 4 * level);
      if (level % 16 === 0 || level === this.data.top) shades.push(`rgb(${shade.join()}) ${(100 * level) / this.data.top}%`);
    }
    this.bar.style.background = `linear-gradient(to right, ${shades.join()})`;
    for (const name of ["masked", "line", "frame"]) this.root.style.setProperty(`--${name}`, colors[name]);
  }

  takeTiles() {
    const { text, shape, tiles } = this.data;
    const [layers, heads] = shape;
    this.tiles = tiles ?? range(layers * heads).map((index) => [Math.floor(index / heads), index % heads]);
    this.root.dataset.tiles = this.tiles.length;
    const values = { layers, heads, tiles: this.tiles.length, hint: this.hint() };
    this.canvas.setAttribute("aria-label", fillIn(tiles ? text.flow : text.picture, values));
  }

  // --- where things are

  resized() {
    if (this.layout()) {
      this.paint();
      this.mark();
    }
  }

  // Give every tile its place; true if any has moved.
  layout() {
    const width = this.root.clientWidth;
    if (!width) return false;
    const narrow = width < NARROW;
    const size = narrow ? 12.5 : 16;
    const style = this.root.style;
    style.setProperty("--size", `${size}px`);
    style.setProperty("--thick", narrow ? "3px" : "5px");
    style.setProperty("--away", narrow ? "0px" : "1px");
    const font = getComputedStyle(this.root).fontFamily;
    const context = this.atlas.getContext("2d");
    const measured = (texts) => {
      context.font = `700 ${size}px ${font}`;
      return Math.ceil(Math.max(0, ...texts.map((text) => context.measureText(text).width)));
    };
    const place = this.data.tiles ? this.flow(width, narrow, size, measured) : this.grid(width, narrow, size, measured);
    const key = JSON.stringify([place, devicePixelRatio, this.data.shape, this.data.captions]);
    if (key === this.placed) return false;
    this.placed = key;
    this.place = place;
    this.root.dataset.geometry = JSON.stringify({ ...place, labels: undefined });
    this.picture.style.width = `${place.width}px`;
    this.picture.style.height = `${place.height}px`;
    this.labels.replaceChildren(...place.labels.map(({ says, role, tile, ...box }) => {
      const label = make("div", { class: `label ${role}`, "data-tile": tile ?? "" }, says);
      for (const [name, value] of Object.entries(box)) label.style[name] = `${value}px`;
      return label;
    }));
    return true;
  }

  // Layers down, heads across.
  grid(width, narrow, size, measured) {
    const { text, shape } = this.data;
    const [layers, heads] = shape;
    const gap = narrow ? 4 : layers > 8 ? 6 : 9;
    const rows = range(layers).map((layer) => fillIn(text.layer, { layer: layer + 1 }));
    const columns = range(heads).map((head) => fillIn(text.head, { head: head + 1 }));
    const line = Math.ceil(1.4 * size);
    let left = measured(rows) + size;
    const frame = narrow ? 3 : 6;
    let top = line + frame;
    // Where "head 12" does not fit over a tile, numbers stand there, and the word once.
    const short = Math.floor((width - left) / heads) < measured(columns) + size / 2;
    if (short) [left, top] = [line + measured([String(layers)]) + size, top + line];
    left = Math.ceil(left);
    const margin = 6; // for the frame of the last tile
    const wide = Math.min(LARGEST, Math.floor((width - left - margin + gap) / heads) - gap);
    const h = Math.max(SMALLEST, Math.min(wide, Math.floor((TALLEST - top) / layers) - gap));
    const w = Math.max(4, Math.min(wide, Math.floor(WIDEST * h)));
    const [across, down] = [w + gap, h + gap];
    const labels = [
      ...columns.map((says, head) => {
        const box = { left: left + head * across - gap / 2, top: top - line - frame, width: across };
        return { says: short ? String(head + 1) : says, role: "column", tile: head, ...box };
      }),
      ...rows.map((says, layer) => {
        const box = { left: short ? line : 0, top: top + layer * down + h / 2, width: left - (short ? line : 0) };
        return { says: short ? String(layer + 1) : says, role: "row", tile: layer * heads, ...box };
      }),
    ];
    if (short) {
      labels.push({ says: text.heads, role: "title", left, top: 0, width: heads * across - gap });
      labels.push({ says: text.layers, role: "title down", left: 0, top, height: layers * down - gap });
    }
    const whole = { width: left + heads * across - gap + margin, height: top + layers * down - gap + margin };
    return { left, top, w, h, across, down, columns: heads, ...whole, labels };
  }

  // In an order of their own, left to right and top to bottom, a caption under each.
  flow(width, narrow, size, measured) {
    const { tiles, captions } = this.data;
    const gap = narrow ? 6 : 10;
    const line = Math.ceil(1.4 * size) + 2;
    const margin = 6;
    const room = width - 2 * margin + gap;
    const least = Math.min(room, measured(captions) + gap);
    let best = null;
    for (let columns = 1; columns <= Math.min(tiles.length, Math.floor(room / least)); columns++) {
      const wide = Math.min(LARGEST, Math.floor(room / columns) - gap);
      const high = Math.floor(TALLEST / Math.ceil(tiles.length / columns)) - gap - line;
      const h = Math.min(wide, Math.max(READABLE, high));
      if (!best || h >= best.h) best = { columns, h, w: Math.max(least - gap, Math.min(wide, Math.floor(WIDEST * h))) };
    }
    const { columns, w, h } = best ?? { columns: 1, w: room - gap, h: READABLE };
    const [across, down] = [w + gap, h + line + gap];
    const labels = tiles.map((_, index) => {
      const [row, column] = [Math.floor(index / columns), index % columns];
      const box = { left: margin + column * across - gap / 2, top: margin + row * down + h + 4, width: across };
      return { says: captions[index], role: "caption", tile: index, ...box };
    });
    const height = 2 * margin + Math.ceil(tiles.length / columns) * down - gap;
    return { left: margin, top: margin, w, h, across, down, columns, width: 2 * margin + columns * across - gap, height, labels };
  }

  corner(index) {
    const { left, top, across, down, columns } = this.place;
    return [left + (index % columns) * across, top + Math.floor(index / columns) * down];
  }

  // Index of the tile at a point of the picture; a gutter belongs to the tile before it. Null: there is none.
  tileAt(x, y) {
    const { left, top, across, down, columns } = this.place;
    const [column, row] = [Math.floor((x - left) / across), Math.floor((y - top) / down)];
    const index = row * columns + column;
    return column < 0 || row < 0 || column >= columns || index >= this.tiles.length ? null : index;
  }

  // The cell under the pointer. Where several share a pixel, the strongest: that is the one whose colour is seen.
  cellAt(index, x, y) {
    const [, heads, queries, keys] = this.data.shape;
    const { w, h } = this.place;
    const [left, top] = this.corner(index);
    if (x < left || y < top || x >= left + w || y >= top + h) return null;
    const [layer, head] = this.tiles[index];
    return this.strongest(layer * heads + head, span(y - top, h, queries), span(x - left, w, keys));
  }

  // Query, key and level of the strongest cell of a part of a map; the level of masked cells only if there are no others.
  strongest(map, [fromQuery, toQuery], [fromKey, toKey]) {
    const [, , queries, keys] = this.data.shape;
    const masked = this.data.masked_level;
    let best = null;
    for (let query = fromQuery; query < toQuery; query++) {
      for (let key = fromKey; key < toKey; key++) {
        const level = this.levels[(map * queries + query) * keys + key];
        if (!best || (level !== masked && (best.level === masked || level > best.level))) best = { query, key, level };
      }
    }
    return best;
  }

  // --- what a person does

  point(event) {
    const { tip, frames } = this;
    const [x, y] = event ? [event.offsetX, event.offsetY] : [0, 0];
    const index = event ? this.tileAt(x, y) : null;
    const cell = index === null ? null : this.cellAt(index, x, y);
    this.put(frames.pointed, cell ? index : -1);
    tip.hidden = !cell;
    if (!cell) return;
    const { text, queries, keys } = this.data;
    const says = [
      this.named(index),
      fillIn(text.query, { index: cell.query, token: tokenText(queries[cell.query]) }),
      fillIn(text.key, { index: cell.key, token: tokenText(keys[cell.key]) }),
      this.weight(cell.level),
    ];
    this.lines.forEach((line, at) => (line.textContent = says[at]));
    const { clientWidth, clientHeight } = this.picture;
    const [width, height] = [tip.offsetWidth, tip.offsetHeight];
    const beside = x + 16 + width > clientWidth ? x - 16 - width : x + 16;
    tip.style.left = `${Math.max(0, Math.min(beside, clientWidth - width))}px`;
    tip.style.top = `${y > clientHeight / 2 ? y - 12 - height : y + 20}px`;
  }

  pick(index) {
    this.cursor = index;
    this.mark();
    this.setTriggerValue("pick", [...this.tiles[index]]);
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (!event.repeat) this.pick(this.cursor);
      return;
    }
    const { columns } = this.place;
    const last = this.tiles.length - 1;
    const start = this.cursor - (this.cursor % columns);
    const end = Math.min(last, start + columns - 1);
    const to = {
      ArrowLeft: Math.max(start, this.cursor - 1),
      ArrowRight: Math.min(end, this.cursor + 1),
      ArrowUp: this.cursor - columns < 0 ? this.cursor : this.cursor - columns,
      ArrowDown: this.cursor + columns > last ? this.cursor : this.cursor + columns,
      Home: start,
      End: end,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.root.dataset.keyboard = "";
    this.cursor = to;
    this.mark();
    this.say(to);
    this.point(null);
  }

  focused() {
    return "keyboard" in this.root.dataset && this.root.getRootNode().activeElement === this.canvas;
  }

  // --- words

  hint() {
    return fingers.matches ? this.data.text.tap : this.data.text.hint;
  }

  named(index) {
    const [layer, head] = this.tiles[index];
    return fillIn(this.data.text.tile, { layer: layer + 1, head: head + 1 });
  }

  weight(level) {
    const { text, top, masked_level } = this.data;
    if (level === masked_level) return text.masked;
    return level ? fillIn(text.weight, { weight: (level / top).toFixed(3) }) : text.least;
  }

  // What a tile shows, for those who do not see it.
  say(index) {
    const { text, shape, queries, keys, captions, top, masked_level } = this.data;
    if (!this.tiles.length) return;
    const [layer, head] = this.tiles[index];
    const cell = this.strongest(layer * shape[1] + head, [0, shape[2]], [0, shape[3]]);
    const tile = captions ? `${this.named(index)} (${captions[index]})` : this.named(index);
    const masked = !cell || cell.level === masked_level;
    const values = { tile };
    if (!masked) {
      values.weight = (cell.level / top).toFixed(3);
      values.query = fillIn(text.query, { index: cell.query, token: tokenText(queries[cell.query]) });
      values.key = fillIn(text.key, { index: cell.key, token: tokenText(keys[cell.key]) });
    }
    const says = fillIn(masked ? text.all_masked : text.strongest, values);
    this.write(index === this.selected ? `${says} ${text.chosen}` : says);
  }

  write(says) {
    if (this.says.textContent !== says) this.says.textContent = says;
  }

  // --- drawing

  // Frames and labels: what is selected, where the keyboard is.
  mark() {
    const { root, frames, tiles, selected, cursor, data } = this;
    if (!this.place) return;
    this.put(frames.selected, selected);
    this.put(frames.cursor, tiles.length ? cursor : -1);
    const named = (index) => (tiles[index] ? tiles[index].map((at) => at + 1).join() : "");
    root.dataset.selected = named(selected);
    root.dataset.cursor = named(cursor);
    const [layer, head] = tiles[selected] ?? [];
    for (const label of this.labels.children) {
      const tile = tiles[label.dataset.tile];
      const isRow = label.classList.contains("row");
      const isColumn = label.classList.contains("column");
      const on = tile && (isRow || tile[1] === head) && (isColumn || tile[0] === layer);
      label.classList.toggle("on", Boolean(label.dataset.tile && on));
    }
  }

  put(frame, index) {
    frame.hidden = index < 0 || !this.place;
    if (frame.hidden) return;
    const [left, top] = this.corner(index);
    Object.assign(frame.style, { left: `${left}px`, top: `${top}px`, width: `${this.place.w}px`, height: `${this.place.h}px` });
  }

  paint() {
    const { canvas, place, tiles } = this;
    if (!place) return;
    const [, , queries, keys] = this.data.shape;
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(place.width * ratio);
    canvas.height = Math.round(place.height * ratio);
    canvas.style.width = `${place.width}px`;
    canvas.style.height = `${place.height}px`;
    const context = canvas.getContext("2d");
    context.imageSmoothingEnabled = false;
    // No more cells than pixels, or some would be skipped. Of a dense screen's smaller pixels one alone could not be seen.
    const rows = Math.min(queries, place.h);
    const columns = Math.min(keys, place.w);
    const hatch = this.hatch(context, ratio);
    this.shade(rows, columns);
    tiles.forEach(([layer, head], index) => {
      const [left, top] = this.corner(index).map((at) => Math.round(at * ratio));
      const box = [left, top, Math.round(place.w * ratio), Math.round(place.h * ratio)];
      for (const style of [this.data.colors.masked, hatch]) {
        context.fillStyle = style;
        context.fillRect(...box);
      }
      if (rows && columns) context.drawImage(this.atlas, head * columns, layer * rows, columns, rows, ...box);
    });
    this.root.dataset.painted = ++this.painted;
  }

  // All maps side by side, a pixel a cell; where there are more cells than pixels, the strongest cell of each pixel.
  shade(rows, columns) {
    const [layers, heads, queries, keys] = this.data.shape;
    const { atlas, levels, pixels } = this;
    if (!layers || !heads || !rows || !columns) return;
    atlas.width = heads * columns;
    atlas.height = layers * rows;
    const image = new ImageData(atlas.width, atlas.height);
    const shades = new Uint32Array(image.data.buffer);
    const every = rows === queries && columns === keys;
    const spans = (count, cells) => range(count).map((at) => span(at, count, cells));
    const [queriesOf, keysOf] = [spans(rows, queries), spans(columns, keys)];
    for (let map = 0; map < layers * heads; map++) {
      const corner = Math.floor(map / heads) * rows * atlas.width + (map % heads) * columns;
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          const level = every
            ? levels[(map * queries + row) * keys + column]
            : this.strongest(map, queriesOf[row], keysOf[column]).level;
          shades[corner + row * atlas.width + column] = pixels[level];
        }
      }
    }
    atlas.getContext("2d").putImageData(image, 0, 0);
  }

  // All of it as an SVG, the cells as pixels.
  drawn() {
    const sheet = new Sheet(this.sheet);
    const legend = this.sheet.querySelector(".legend");
    for (const words of legend.children) {
      for (const node of words.childNodes) if (node.nodeType === Node.TEXT_NODE || node.matches("b")) sheet.write(node);
    }
    const { pixels, data } = this;
    const shade = (level) => `rgb(${new Uint8Array(pixels.buffer, 4 * level, 3).join()})`;
    const stops = range(17).map((at) => `<stop offset="${at / 16}" stop-color="${shade(Math.round((at * data.top) / 16))}"/>`);
    sheet.raw(`<linearGradient id="scale">${stops.join("")}</linearGradient>`);
    sheet.rect(sheet.place(this.bar), { fill: "url(#scale)" });
    sheet.rect(sheet.place(legend.querySelector(".swatch")), { fill: data.colors.masked });
    const [x, y, width, height] = sheet.place(this.canvas);
    sheet.add("image", { x, y, width, height, href: this.canvas.toDataURL(), style: "image-rendering: pixelated" });
    for (const label of this.labels.children) sheet.write(label);
    if (this.selected >= 0) {
      const frame = { fill: "none", stroke: data.colors.frame, "stroke-width": 4 };
      const [left, top, across, down] = sheet.place(this.frames.selected);
      sheet.rect([left - 2.5, top - 2.5, across + 5, down + 5], frame);
    }
    return sheet.svg();
  }

  hatch(context, ratio) {
    const side = Math.round(HATCH * ratio);
    const stroke = make("canvas", { width: side, height: side });
    const pen = stroke.getContext("2d");
    pen.strokeStyle = this.data.colors.line;
    pen.lineWidth = 1.2 * ratio;
    for (const shift of [-side, 0, side]) {
      pen.moveTo(shift - 1, side + 1);
      pen.lineTo(shift + side + 1, -1);
    }
    pen.stroke();
    return context.createPattern(stroke, "repeat");
  }
}

// --- small helpers

// Which of `cells` cells lie under pixel `at` of `size` pixels: one, or several where there are more cells than pixels.
function span(at, size, cells) {
  if (cells <= size) {
    const cell = Math.min(cells - 1, Math.floor((at * cells) / size));
    return [cell, cell + 1];
  }
  const from = Math.floor((Math.floor(at) * cells) / size);
  return [from, Math.max(from + 1, Math.min(cells, Math.floor(((Math.floor(at) + 1) * cells) / size)))];
}
