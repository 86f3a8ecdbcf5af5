// One stop of the walk: inputs, operation, result, all in one scale, so that a change of shape looks like one.

import { MASKED_LEVEL, TOP_LEVEL, pixelsOfColor, pixelsOfScale, ramp } from "../ui/colors.js";
import { make, range, viewOf } from "../ui/component.js";
import { fillIn, formatNumber, tokenText } from "../ui/format.js";
import { HATCH_GAP, fillHatched, paintCells } from "../ui/paint.js";
import { unpackParcel } from "../ui/parcel.js";
import { Sheet, answerWithPicture } from "../ui/picture.js";

const TALLEST = 430; // px of cells of one panel, or of inputs stacked
const LARGEST_CELL = 24; // px
const GAP = 5; // px between tiles
const LABELLED = 11; // px of a row from which its token is written beside it
const COLUMN_LABELLED = 13;
const LONGEST = 78; // px of a label
const NARROW = 560; // px: below, the result stands under the inputs
const MOST_TOLD = 12; // exact numbers told of a dot that stands for several
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -Infinity], End: [0, Infinity] };

export default function stop({ data, parentElement }) {
  const root = parentElement.querySelector(".stop");
  return viewOf(root, () => new View(root)).update(...unpackParcel(data));
}

class View {
  constructor(root) {
    this.root = root;
    this.calls = 0;
    this.painted = 0;
    this.observer = new ResizeObserver(() => this.data && this.width() !== this.seen && this.draw());
    this.tip = make("div", { class: "tip", hidden: "", "aria-hidden": "true" });
    this.mark = make("div", { class: "mark", hidden: "", "aria-hidden": "true" });
    this.says = make("p", { class: "says", role: "status", "aria-live": "polite" });
    this.sheet = make("div", { class: "sheet" });
    root.replaceChildren(this.sheet, this.mark, this.tip, this.says);
    answerWithPicture(root, () => this.drawn());
  }

  update(data, bytes) {
    const call = ++this.calls;
    this.data = data;
    const { colors } = data;
    this.pixels = { signed: pixelsOfScale(colors.signed), weights: pixelsOfScale(colors.weights), ids: pixelsOfColor(colors.line) };
    this.leave();
    this.panels = [...data.inputs, data.result].map((panel) => {
      const count = panel.tiles * panel.rows * panel.columns;
      const values = new Float32Array(bytes.slice(panel.at, panel.at + 4 * count).buffer);
      const hidden = panel.masked ? bytes.subarray(panel.at + 4 * count, panel.at + 5 * count) : null;
      return { ...panel, values, hidden, from: 0, to: panel.columns };
    });
    this.root.setAttribute("aria-label", data.says);
    this.root.setAttribute("role", "group");
    this.build();
    this.draw();
    this.observer.observe(this.root);
    return () => call === this.calls && this.observer.disconnect();
  }

  width() {
    return this.root.clientWidth;
  }

  // --- the parts of the page

  build() {
    const { data, panels } = this;
    const boxes = panels.map((panel) => this.box(panel));
    const inputs = make("div", { class: "inputs" }, ...boxes.slice(0, -1));
    const sign = make("div", { class: "sign" }, data.operation);
    const operation = make("div", { class: "operation" }, sign, make("div", { class: "arrow", "aria-hidden": "true" }));
    this.flow = make("div", { class: "flow" }, inputs, operation, boxes.at(-1));
    this.notes = make("p", { class: "notes" });
    this.sheet.replaceChildren(this.flow, this.notes);
  }

  box(panel) {
    const { text } = this.data;
    panel.canvas = make("canvas", { role: "application", tabindex: 0, "aria-label": panel.says });
    panel.canvas.addEventListener("pointermove", (event) => this.point(panel, event));
    panel.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    // A finger that taps does not move, and leaves before the click.
    panel.canvas.addEventListener("click", (event) => this.point(panel, event));
    panel.canvas.addEventListener("keydown", (event) => this.key(panel, event));
    panel.canvas.addEventListener("blur", () => this.leave());
    panel.canvas.addEventListener("focus", () => {
      // A click must not take the arrow keys away from the page, which steps with them.
      if (panel.canvas.matches(":focus-visible")) this.go(panel, panel.last ?? { tile: 0, r: 0, c: panel.from });
    });
    panel.canvas.addEventListener("pointerdown", (event) => this.drag(panel, event));
    panel.canvas.addEventListener("dblclick", () => this.zoom(panel, 0, panel.columns));
    const head = make("div", { class: "title" }, make("b", {}, panel.title), make("span", { class: "shape" }, panel.shape));
    const named = (arrow, axis) => (axis && axis !== "1" ? [`${arrow} ${axis}`] : []);
    const axes = [...named("↓", panel.axes[1]), ...named("→", panel.scale === "ids" ? "" : panel.axes[2])];
    if (axes.length) head.append(make("span", { class: "axes" }, axes.join(" ")));
    const parts = [head, panel.canvas, this.legend(panel)];
    if (panel.columns > this.data.most_columns) {
      const ends = ["from", "to"].map((end) => {
        const most = panel.columns - 1;
        const field = make("input", { type: "number", min: 0, max: most, value: end === "to" ? most : 0 });
        field.setAttribute("aria-label", fillIn(text[end], { title: panel.title }));
        field.addEventListener("change", () => this.zoom(panel, +panel.ends[0].value, +panel.ends[1].value + 1));
        // The arrow keys of the page step to another tensor: not from here.
        field.addEventListener("keydown", (event) => event.stopPropagation());
        return field;
      });
      panel.ends = ends;
      const whole = make("button", { type: "button" }, text.whole);
      whole.addEventListener("click", () => this.zoom(panel, 0, panel.columns));
      parts.push(make("div", { class: "zoom" }, text.columns, ends[0], "–", ends[1], whole));
    }
    const box = make("div", { class: "panel" }, ...parts);
    box.dataset.path = panel.path;
    return box;
  }

  legend(panel) {
    const { text } = this.data;
    const legend = make("div", { class: "legend", "aria-hidden": "true" });
    if (panel.scale === "signed" || panel.scale === "weights") {
      const bar = make("span", { class: "bar" });
      bar.style.background = ramp(this.pixels[panel.scale]);
      const ends = panel.scale === "signed" ? [formatNumber(-panel.most_said), formatNumber(panel.most_said)] : ["0", "1"];
      legend.append(ends[0], bar, ends[1]);
    }
    if (panel.scale === "mask") {
      const open = make("span", { class: "swatch" });
      open.style.background = panel.color;
      legend.append(make("span", {}, open, text.allowed));
    }
    if (panel.hidden?.includes(1)) legend.append(make("span", {}, make("span", { class: "swatch masked" }), text.masked));
    const { colors } = this.data;
    legend.style.setProperty("--masked", colors.masked);
    legend.style.setProperty("--line", colors.line);
    return legend;
  }

  // --- to scale

  // The size of a cell, and how many tiles go side by side, so that all panels fit.
  arrange(width) {
    const { panels } = this;
    const narrow = width < NARROW;
    const inputs = panels.slice(0, -1);
    const tiles = Math.max(...panels.map((panel) => (panel.strip ? 1 : panel.tiles)));
    const labels = panels.some((panel) => panel.row_tokens) ? LONGEST : 0;
    const choices = [];
    for (let side = 1; side <= tiles; side++) {
      if (tiles % side) continue;
      for (const stacked of inputs.length > 1 && !narrow ? [false, true] : [narrow]) {
        const sizes = panels.map((panel) => spread(panel, side));
        const result = sizes.at(-1);
        const before = sizes.slice(0, -1);
        const room = width - (narrow ? 0 : 150) - labels * (narrow ? 1 : stacked ? 2 : panels.length);
        const most = (name) => Math.max(0, ...before.map((size) => size[name]));
        const total = (name) => before.reduce((sum, size) => sum + size[name], 0);
        let [across, gaps] = [total("across") + result.across, total("acrossGaps") + result.acrossGaps + 24 * panels.length];
        if (stacked) [across, gaps] = [most("across") + result.across, most("acrossGaps") + result.acrossGaps];
        if (narrow) [across, gaps] = [Math.max(most("across"), result.across), Math.max(most("acrossGaps"), result.acrossGaps)];
        let [down, downGaps] = [Math.max(most("down"), result.down), Math.max(most("downGaps"), result.downGaps)];
        if (stacked && !narrow) [down, downGaps] = [Math.max(total("down"), result.down), total("downGaps") + result.downGaps];
        const u = Math.min(LARGEST_CELL, (room - gaps) / across);
        const v = Math.min(LARGEST_CELL, (TALLEST - downGaps) / down);
        if (u > 0 && v > 0) choices.push({ side, stacked, u, v, good: Math.min(u, v) + 0.05 * Math.max(u, v) });
      }
    }
    const readable = choices.filter((choice) => choice.v >= 4 && choice.u >= 0.8);
    const best = Math.max(...choices.map((choice) => choice.good));
    // Heads one below the other, unless that makes the cells much smaller.
    const found = readable.find((choice) => choice.good >= 0.5 * best) ?? choices.find((choice) => choice.good === best);
    if (!found) return { side: 1, stacked: true, narrow, u: 0.5, v: 2 };
    // Cells need not be square, but a matrix must not look like a thread.
    return { ...found, narrow, v: Math.min(found.v, Math.max(6, 16 * found.u)), u: Math.min(found.u, 3 * found.v) };
  }

  draw() {
    const width = (this.seen = this.width());
    if (!width || !this.panels) return;
    const place = this.arrange(width);
    this.flow.classList.toggle("narrow", place.narrow);
    this.flow.classList.toggle("stacked", place.stacked);
    for (const panel of this.panels) this.paint(panel, place);
    const binned = this.panels.filter((panel) => panel.each[0] * panel.each[1] > 1);
    const { text } = this.data;
    const alike = new Map();
    for (const { title, each } of binned) alike.set(each.join(" × "), [...(alike.get(each.join(" × ")) ?? []), title]);
    const dots = [...alike].map(([each, titles]) => fillIn(text.binned, { titles: titles.join(", "), each }));
    this.notes.textContent = [text.hint, ...dots].join(" ");
    this.root.dataset.geometry = JSON.stringify({
      u: place.u, v: place.v, stacked: place.stacked, narrow: place.narrow, side: place.side,
      panels: this.panels.map(({ path, box, each }) => ({ path, ...box, each })),
    });
    if (this.read) this.go(this.read, this.read.last);
    this.root.dataset.painted = ++this.painted;
  }

  // --- drawing

  paint(panel, place) {
    const { canvas } = panel;
    const { u, v } = place;
    const ratio = devicePixelRatio || 1;
    const side = panel.strip ? panel.tiles : Math.min(place.side, panel.tiles);
    const lines = Math.ceil(panel.tiles / side);
    const h = Math.max(2, panel.rows * v);
    const style = getComputedStyle(this.root);
    const context = canvas.getContext("2d");
    const font = (size) => `${size}px ${style.fontFamily}`;
    context.font = font(12);
    // Ids are words, not amounts: they are written, not coloured, and want the room of a word.
    const ids = panel.scale === "ids" ? Array.from(panel.values, String) : null;
    const w = Math.max(1, panel.columns * u, ids ? Math.max(...ids.map((id) => context.measureText(id).width)) + 10 : 0);
    const longest = (tokens) => Math.min(LONGEST, Math.max(0, ...(tokens ?? []).map((token) => context.measureText(tokenText(token)).width)));
    const heads = panel.tiles > 1 && h >= 11;
    // Of a long text every second or third row has its token beside it; with many heads only where all have one.
    const nth = Math.ceil(LABELLED / v);
    const rowTokens = (nth === 1 || panel.tiles === 1) && panel.row_tokens && side === 1 ? panel.row_tokens : null;
    const columnTokens = u >= COLUMN_LABELLED && panel.column_tokens && !panel.strip ? panel.column_tokens : null;
    const headWidth = heads && side === 1 ? 16 : 0;
    const left = Math.ceil((rowTokens ? longest(rowTokens) + 6 : 0) + headWidth);
    const top = Math.ceil((columnTokens ? longest(columnTokens) + 6 : 0) + (heads && side > 1 ? 15 : 0)) || (nth > 1 ? 4 : 0);
    const [wide, high] = [left + side * w + (side - 1) * GAP, top + lines * h + (lines - 1) * (GAP + (side > 1 && heads ? 12 : 0))];
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(high * ratio);
    Object.assign(canvas.style, { width: `${wide}px`, height: `${high}px` });
    context.setTransform(1, 0, 0, 1, 0, 0);
    panel.box = { left, top, w, h, side, lines, wide, high, across: w + GAP, down: h + GAP + (side > 1 && heads ? 12 : 0) };
    const columns = panel.to - panel.from;
    // No more dots than pixels, and no more than promised: of several numbers a dot shows the strongest.
    const each = [Math.ceil(panel.rows / Math.max(1, Math.floor(h * ratio))), Math.ceil(columns / Math.min(this.data.most_columns, Math.max(1, Math.floor(w * ratio))))];
    panel.each = each;
    const [down, across] = [Math.ceil(panel.rows / each[0]), Math.ceil(columns / each[1])];
    const levels = new Uint8Array(down * across);
    const pixels = panel.scale === "mask" ? pixelsOfColor(panel.color) : this.pixels[panel.scale];
    context.fillStyle = style.color;
    context.textBaseline = "middle";
    for (let tile = 0; tile < panel.tiles; tile++) {
      const [x, y] = [left + (tile % side) * panel.box.across, top + Math.floor(tile / side) * panel.box.down];
      const box = [x * ratio, y * ratio, w * ratio, h * ratio].map(Math.round);
      for (let row = 0; row < down; row++) {
        for (let column = 0; column < across; column++) levels[row * across + column] = this.level(panel, tile, row, column);
      }
      if (levels.includes(MASKED_LEVEL)) fillHatched(context, ratio, this.data.colors, box);
      if (!ids) paintCells(context, levels, down, across, pixels, box);
      context.strokeStyle = this.data.colors.line;
      context.lineWidth = 1;
      context.strokeRect(box[0] + 0.5, box[1] + 0.5, box[2] - 1, box[3] - 1);
      if (heads) this.write(context, ratio, font(11), String(tile + 1), side === 1 ? headWidth - 4 : x + w / 2, side === 1 ? y + h / 2 : y - 7, side === 1 ? "right" : "center", style.color);
      const labels = font(Math.min(12, nth * v));
      for (const [at, align, words] of [[x - 5, "right", rowTokens], [x + w / 2, "center", ids]]) {
        (words ?? []).forEach((word, row) => {
          if (row % nth === 0) this.write(context, ratio, labels, clip(context, tokenText(word), LONGEST), at, y + (row + 0.5) * v, align, style.color);
        });
      }
    }
    if (columnTokens && panel.from === 0 && panel.to === panel.columns) {
      for (let across = 0; across < side; across++) {
        columnTokens.forEach((token, column) => {
          context.save();
          context.translate((left + across * panel.box.across + (column + 0.5) * u) * ratio, (top - 5 - (heads && side > 1 ? 15 : 0)) * ratio);
          context.rotate(-Math.PI / 2);
          this.write(context, ratio, font(12), clip(context, tokenText(token), LONGEST), 0, 0, "left", style.color);
          context.restore();
        });
      }
    }
  }

  write(context, ratio, font, says, x, y, align, color) {
    context.font = font.replace(/^(\d+)px/, (_, size) => `${size * ratio}px`);
    context.fillStyle = color;
    context.textAlign = align;
    context.fillText(says, x * ratio, y * ratio);
  }

  // The shade of a dot: that of the strongest of the numbers it stands for.
  level(panel, tile, row, column) {
    const best = this.strongest(panel, tile, row, column);
    if (!best) return MASKED_LEVEL;
    if (panel.scale === "signed") return Math.round(((Math.max(-1, Math.min(1, best.value / panel.most)) + 1) / 2) * TOP_LEVEL);
    if (panel.scale === "weights") return Math.round(Math.max(0, Math.min(1, best.value)) * TOP_LEVEL);
    return TOP_LEVEL;
  }

  strongest(panel, tile, row, column) {
    const { values, hidden, rows, columns, each, from, to } = panel;
    let best = null;
    const lastRow = Math.min(rows, (row + 1) * each[0]);
    const lastColumn = Math.min(to, from + (column + 1) * each[1]);
    for (let r = row * each[0]; r < lastRow; r++) {
      for (let c = from + column * each[1]; c < lastColumn; c++) {
        const at = (tile * rows + r) * columns + c;
        if (hidden?.[at] || !Number.isFinite(values[at])) continue;
        if (!best || Math.abs(values[at]) > Math.abs(best.value)) best = { r, c, value: values[at] };
      }
    }
    return best;
  }

  // All of it as an SVG, the cells as pixels.
  drawn() {
    const sheet = new Sheet(this.flow);
    for (const canvas of this.flow.querySelectorAll("canvas")) {
      const [x, y, width, height] = sheet.place(canvas);
      sheet.add("image", { x, y, width, height, href: canvas.toDataURL(), style: "image-rendering: pixelated" });
    }
    for (const words of this.flow.querySelectorAll(".title b, .shape, .axes")) sheet.write(words);
    const { color } = getComputedStyle(this.root);
    const sign = this.flow.querySelector(".sign");
    sheet.write(sign);
    sheet.rect(sheet.place(sign), { fill: "none", stroke: color, "stroke-width": 2, rx: 6 });
    const [x, y, width, height] = sheet.place(this.flow.querySelector(".arrow"));
    // It points to the right, or where the result stands below, down.
    const [from, to, head] = width > height
      ? [[x, y + height / 2], [x + width - 9, y + height / 2], `0,-6 9,0 0,6`]
      : [[x + width / 2, y], [x + width / 2, y + height - 9], `-6,0 0,9 6,0`];
    sheet.add("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke: color, "stroke-width": 2 });
    sheet.add("polygon", { points: head, transform: `translate(${to})`, fill: color });
    this.panels.forEach((panel, index) => {
      const legend = this.flow.querySelectorAll(".panel")[index].querySelector(".legend");
      for (const node of [legend, ...legend.children].flatMap((part) => [...part.childNodes])) {
        if (node.nodeType === Node.TEXT_NODE) sheet.write(node);
      }
      for (const swatch of legend.querySelectorAll(".swatch")) this.drawSwatch(sheet, swatch, panel);
      const bar = legend.querySelector(".bar");
      if (!bar) return;
      const shade = (level) => `rgb(${new Uint8Array(this.pixels[panel.scale].buffer, 4 * level, 3).join()})`;
      const stops = range(17).map((at) => `<stop offset="${at / 16}" stop-color="${shade(Math.round((at * TOP_LEVEL) / 16))}"/>`);
      sheet.raw(`<linearGradient id="scale${index}">${stops.join("")}</linearGradient>`);
      sheet.rect(sheet.place(bar), { fill: `url(#scale${index})` });
    });
    return sheet.svg();
  }

  // What a mask hides is hatched, as it is in the picture.
  drawSwatch(sheet, swatch, panel) {
    const [x, y, width, height] = sheet.place(swatch);
    const { masked, line } = this.data.colors;
    const hides = swatch.classList.contains("masked");
    sheet.rect([x, y, width, height], { fill: hides ? masked : panel.color });
    for (let at = x; hides && at < x + width - height / 2; at += HATCH_GAP) {
      sheet.add("line", { x1: at, y1: y + height, x2: Math.min(at + height, x + width), y2: y, stroke: line });
    }
  }

  // --- what a person does

  spot(panel, event) {
    const { left, top, w, h, side, lines, across, down } = panel.box;
    const [x, y] = [event.offsetX - left, event.offsetY - top];
    const [column, line] = [Math.floor(x / across), Math.floor(y / down)];
    const tile = line * side + column;
    if (column < 0 || line < 0 || column >= side || line >= lines || tile >= panel.tiles) return null;
    const [inX, inY] = [x - column * across, y - line * down];
    if (inX >= w || inY >= h) return null;
    const columns = panel.to - panel.from;
    const r = Math.min(panel.rows - 1, Math.floor((inY / h) * panel.rows));
    const c = panel.from + Math.min(columns - 1, Math.floor((inX / w) * columns));
    return { tile, r, c };
  }

  point(panel, event) {
    const spot = this.spot(panel, event);
    this.tip.hidden = !spot;
    if (spot) this.tell(panel, spot, event.clientX, event.clientY);
  }

  // What stands at a dot, beside a place of the window.
  tell(panel, spot, clientX, clientY) {
    const { text } = this.data;
    const { tile, r, c } = spot;
    const named = (axis, tokens, at) => (tokens ? `${axis} ${at}: ${tokenText(tokens[at])}` : axis ? `${axis} ${at}` : "");
    const row = Math.floor(r / panel.each[0]) * panel.each[0];
    const column = panel.from + Math.floor((c - panel.from) / panel.each[1]) * panel.each[1];
    const told = [];
    for (let i = row; i < Math.min(panel.rows, row + panel.each[0]); i++) {
      for (let j = column; j < Math.min(panel.to, column + panel.each[1]); j++) told.push([i, j]);
    }
    const value = ([i, j]) => {
      const at = (tile * panel.rows + i) * panel.columns + j;
      if (panel.scale === "mask") return panel.hidden[at] ? text.hidden : text.open;
      const said = formatNumber(panel.values[at]);
      return panel.hidden?.[at] ? fillIn(text.masked_value, { value: said }) : said;
    };
    const lines = [panel.title, panel.axes[0] ? `${panel.axes[0]} ${tile + 1}` : ""];
    if (told.length === 1) {
      const across = panel.scale === "ids" ? "" : named(panel.axes[2], panel.column_tokens, c);
      lines.push(named(panel.axes[1], panel.row_tokens, r), across, value([r, c]));
    } else {
      // Exact, although the dot shows only the strongest: around the pointer where there are too many.
      const middle = told.findIndex(([i, j]) => i === r && j === c);
      const first = Math.max(0, Math.min(middle - MOST_TOLD / 2, told.length - MOST_TOLD));
      for (const [i, j] of told.slice(first, first + MOST_TOLD)) {
        lines.push(`${named(panel.axes[1], panel.row_tokens, i)}, ${named(panel.axes[2], panel.column_tokens, j)}: ${value([i, j])}`);
      }
      if (told.length > MOST_TOLD) lines.push(fillIn(text.more, { count: told.length - MOST_TOLD }));
    }
    this.tip.hidden = false;
    this.tip.replaceChildren(...lines.filter(Boolean).map((line) => make("div", {}, line)));
    const home = this.root.getBoundingClientRect();
    const [x, y] = [clientX - home.left, clientY - home.top];
    const beside = x + 16 + this.tip.offsetWidth > home.width ? x - 16 - this.tip.offsetWidth : x + 16;
    this.tip.style.left = `${Math.max(0, beside)}px`;
    this.tip.style.top = `${Math.max(0, y + 14 + this.tip.offsetHeight > home.height ? y - 14 - this.tip.offsetHeight : y + 14)}px`;
  }

  // With the keyboard: a mark goes from dot to dot while the picture has the focus, over the edges of heads, too.
  key(panel, event) {
    if (this.read !== panel || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key !== "Escape" && !STEPS[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") return panel.canvas.blur();
    const { side, lines } = panel.box;
    const { row, column, down, across } = this.dot(panel, panel.last);
    const [y, x] = STEPS[event.key];
    const toRow = Math.max(0, Math.min(lines * down - 1, row + y));
    const toColumn = Math.max(0, Math.min(side * across - 1, column + x));
    const tile = Math.floor(toRow / down) * side + Math.floor(toColumn / across);
    if (tile >= panel.tiles) return;
    this.go(panel, { tile, r: (toRow % down) * panel.each[0], c: panel.from + (toColumn % across) * panel.each[1] });
  }

  // Row and column of a dot among those of all heads, and how many dots there are in one.
  dot(panel, { tile, r, c }) {
    const { box, each, rows, from, to } = panel;
    const [down, across] = [Math.ceil(rows / each[0]), Math.ceil((to - from) / each[1])];
    const row = Math.floor(tile / box.side) * down + Math.floor(r / each[0]);
    return { row, column: (tile % box.side) * across + Math.floor((c - from) / each[1]), down, across };
  }

  go(panel, { tile, r, c }) {
    // Other columns may have been opened since.
    panel.last = { tile, r, c: Math.max(panel.from, Math.min(panel.to - 1, c)) };
    this.read = panel;
    const { box } = panel;
    const { row, column, down, across } = this.dot(panel, panel.last);
    const [width, height] = [box.w / across, box.h / down];
    const home = this.root.getBoundingClientRect();
    const canvas = panel.canvas.getBoundingClientRect();
    const left = canvas.left + box.left + Math.floor(column / across) * box.across + (column % across) * width;
    const top = canvas.top + box.top + Math.floor(row / down) * box.down + (row % down) * height;
    this.mark.hidden = false;
    Object.assign(this.mark.style, {
      left: `${left - home.left}px`, top: `${top - home.top}px`, width: `${width}px`, height: `${height}px`,
    });
    this.mark.scrollIntoView({ block: "nearest", inline: "nearest" });
    const { x, y } = this.mark.getBoundingClientRect();
    this.tell(panel, panel.last, x + width, y + height);
    this.says.textContent = Array.from(this.tip.children, (line) => line.textContent).join(", ");
  }

  leave() {
    this.read = null;
    this.tip.hidden = this.mark.hidden = true;
    this.says.textContent = "";
  }

  // From where it goes down to where it comes up: these columns.
  drag(panel, event) {
    const start = this.spot(panel, event);
    if (!start || event.button) return;
    const end = (up) => {
      const stop = this.spot(panel, up);
      if (!stop || Math.abs(up.clientX - event.clientX) < 6) return;
      this.zoom(panel, Math.min(start.c, stop.c), Math.max(start.c, stop.c) + 1);
    };
    panel.canvas.addEventListener("pointerup", end, { once: true });
  }

  zoom(panel, from, to) {
    const last = panel.columns;
    const [a, b] = [Math.max(0, Math.min(from | 0, last - 1)), Math.max(1, Math.min(to | 0, last))];
    [panel.from, panel.to] = a < b ? [a, b] : [b - 1, a + 1];
    if (panel.ends) [panel.ends[0].value, panel.ends[1].value] = [panel.from, panel.to - 1];
    this.tip.hidden = true;
    this.draw();
  }
}

// Cells and gaps of a panel with so many tiles side by side.
function spread(panel, side) {
  const beside = panel.strip ? panel.tiles : Math.min(side, panel.tiles);
  const lines = Math.ceil(panel.tiles / beside);
  return {
    across: beside * panel.columns,
    down: lines * panel.rows,
    acrossGaps: (beside - 1) * GAP,
    downGaps: (lines - 1) * (GAP + (beside > 1 ? 12 : 0)),
  };
}

function clip(context, says, width) {
  let text = says;
  while (text.length > 1 && context.measureText(text).width > width * 2) text = `${text.slice(0, -2)}…`;
  return text;
}
