// The model as two columns of blocks, every block a link; lines between them are drawn over the page once it is laid out.

import { followLink, whenReleased } from "./links.js";
import { decodeBase64, fillIn, make, range, tokenText, unchanged, viewOf } from "../ui/component.js";

const SVG = "http://www.w3.org/2000/svg";
const ROUND = 7; // px, radius of the corners of a line
const AWAY = 11; // px from a block's side to the line that goes around it

export default function map({ data, parentElement }) {
  const root = parentElement.querySelector(".map");
  return viewOf(root, () => new View(root)).update(data);
}

class View {
  constructor(root) {
    this.root = root;
    this.layer = { encoder: 1, decoder: 1 };
    this.observer = new ResizeObserver(() => this.lines());
  }

  update(data) {
    const same = unchanged(this.data, data, "columns", "layers", "heads", "colors", "text");
    this.data = data;
    whenReleased(() => {
      if (!same) this.build();
      this.observer.observe(this.root);
      this.lines();
    });
    return () => this.observer.disconnect();
  }

  build() {
    const { data, root } = this;
    for (const [name, color] of Object.entries(data.colors)) root.style.setProperty(`--${name}`, color);
    for (const stack of Object.keys(data.layers)) this.layer[stack] = Math.min(this.layer[stack], data.layers[stack]);
    this.redrawn = { encoder: [], decoder: [] }; // what changes when another layer is picked
    this.arrows = []; // from element, to element
    this.around = []; // block, where its way around joins again, side
    this.ends = {}; // blocks with a name
    const columns = data.columns.map((column, index) => this.column(column, index ? "right" : "left"));
    this.picture = document.createElementNS(SVG, "svg");
    this.picture.setAttribute("aria-hidden", "true");
    this.sheet = make("div", { class: "sheet" }, ...columns, this.picture);
    if (data.heads) columns[0].append(this.legend());
    root.replaceChildren(make("nav", { "aria-label": data.text.label }, this.sheet));
    for (const stack of Object.keys(data.layers)) this.pick(stack, this.layer[stack]);
  }

  // --- blocks

  column({ name, kind, nodes }, side) {
    const column = make("section", { class: `column ${side}`, style: `--color: var(--${kind})`, "aria-label": name });
    column.append(make("h3", {}, name));
    let before = null;
    for (const node of nodes) {
      const [element, first, last] = node.type === "stack" ? this.stack(node, side) : this.node(node, kind);
      column.append(element);
      if (before) this.arrows.push([before, first]);
      before = last;
    }
    return column;
  }

  // A frame around one layer, with a button for each.
  stack({ stack, nodes }, side) {
    const { text, layers } = this.data;
    const buttons = range(layers[stack]).map((index) => {
      const button = make("button", { type: "button", "aria-label": fillIn(text.layer, { layer: index + 1 }) }, String(index + 1));
      button.addEventListener("click", () => this.pick(stack, index + 1));
      return button;
    });
    const says = make("span", {}, fillIn(text.layers, { count: layers[stack] }));
    const head = make("div", { class: "layers", role: "group", "aria-label": text.layers_label }, says, ...buttons);
    const frame = make("div", { class: "stack" }, head);
    this.redrawn[stack].push((layer) => {
      buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(index + 1 === layer)));
    });
    const elements = nodes.map((node) => this.node(node, stack, stack)[0]);
    frame.append(...elements);
    elements.slice(1).forEach((element, index) => this.arrows.push([elements[index], element]));
    nodes.forEach((node, index) => node.branches && this.around.push([elements[index], elements[index + 1], side]));
    return [frame, elements[0], elements.at(-1)];
  }

  node(node, kind, stack = null) {
    const element = node.type === "tokens" ? this.tokens(node) : this.block(node, node.kind ?? kind, stack);
    if (node.id) this.ends[node.id] = element;
    return [element, element, element];
  }

  tokens({ says, tokens, shares, link }) {
    const chips = tokens.map((token, index) => {
      return make("span", { class: "chip" }, tokenText(token), ...(shares ? [make("small", {}, shares[index])] : []));
    });
    const row = this.anchor(link, null, { class: "chips" }, ...(chips.length ? chips : [this.data.text.nothing]));
    return make("div", { class: "tokens" }, make("span", { class: "label" }, says), row);
  }

  block({ title, note, thin, link, mask, mask_says, heads, kind: own }, kind, stack) {
    const words = [make("span", { class: "title" }, title), ...(note ? [make("span", { class: "note" }, note)] : [])];
    const block = make("div", { class: `block${thin ? " thin" : ""}${own ? " own" : ""}`, style: `--color: var(--${kind})` });
    const line = make("div", { class: "line" }, this.anchor(link, stack, { class: "name" }, ...words));
    if (mask) line.append(this.anchor(mask, stack, { class: "mask" }, mask_says));
    block.append(line);
    if (heads && this.data.heads) block.append(this.heads(heads, title, stack));
    return block;
  }

  // A link that follows the layer that is picked; plain text where its page is not there.
  anchor(link, stack, attributes, ...children) {
    if (!link) return make("span", attributes, ...children);
    const anchor = make("a", attributes, ...children);
    const more = () => (stack ? { layer: this.layer[stack], index: this.layer[stack] - 1 } : {});
    const point = () => followLink(anchor, link, more());
    if (stack) this.redrawn[stack].push(point);
    else point();
    return anchor;
  }

  // --- heads

  heads(kind, title, stack) {
    const { text, heads } = this.data;
    const { shape, levels, link } = heads[kind];
    const [, count, rows, columns] = shape;
    const bytes = decodeBase64(levels);
    const strip = make("div", { class: "heads", style: `--across: ${count > 8 ? Math.ceil(count / 2) : count}` });
    for (const head of range(count)) {
      const canvas = make("canvas", { width: columns, height: rows });
      const anchor = make(link ? "a" : "span", {}, canvas);
      const more = () => ({ layer: this.layer[stack], head: head + 1 });
      this.redrawn[stack].push((layer) => {
        this.paint(canvas, bytes, ((layer - 1) * count + head) * rows * columns);
        const name = fillIn(text.head, { kind: title, layer, head: head + 1 });
        anchor.setAttribute("aria-label", name);
        anchor.setAttribute("title", name);
        if (link) followLink(anchor, link, more());
      });
      strip.append(anchor);
    }
    return strip;
  }

  paint(canvas, bytes, start) {
    const scale = (this.scale ??= decodeBase64(this.data.scale));
    const context = canvas.getContext("2d");
    const image = context.createImageData(canvas.width, canvas.height);
    for (let cell = 0; cell < canvas.width * canvas.height; cell++) {
      const level = bytes[start + cell];
      // What is masked stays transparent: the hatch behind shows.
      if (level <= this.data.top) image.data.set([...scale.subarray(3 * level, 3 * level + 3), 255], 4 * cell);
    }
    context.putImageData(image, 0, 0);
  }

  legend() {
    const { text, top } = this.data;
    const scale = (this.scale ??= decodeBase64(this.data.scale));
    const shades = range(9).map((step) => `rgb(${scale.subarray(...[0, 3].map((at) => 3 * Math.round((step * top) / 8) + at)).join()})`);
    const bar = make("span", { class: "bar", style: `background: linear-gradient(to right, ${shades.join()})` });
    return make(
      "div",
      { class: "legend" },
      make("span", {}, text.legend),
      make("span", {}, "0", bar, "1"),
      make("span", {}, make("span", { class: "swatch" }), text.masked),
    );
  }

  pick(stack, layer) {
    this.layer[stack] = layer;
    for (const redraw of this.redrawn[stack]) redraw(layer);
  }

  // --- lines

  lines() {
    const sheet = this.sheet.getBoundingClientRect();
    if (!sheet.width) return;
    const place = (element) => {
      const box = element.getBoundingClientRect();
      const [left, top] = [box.left - sheet.left, box.top - sheet.top];
      return { left, top, right: left + box.width, bottom: top + box.height, x: left + box.width / 2, y: top + box.height / 2 };
    };
    const paths = [];
    const add = (name, points) => paths.push([name, points]);
    for (const [from, to] of this.arrows) {
      const [a, b] = [place(from), place(to)];
      add("flow", [[a.x, a.bottom], [a.x, b.top]]);
    }
    for (const [block, join, side] of this.around) {
      const [a, b] = [place(block), place(join)];
      const start = a.top - 7;
      const x = side === "left" ? a.left - AWAY : a.right + AWAY;
      add("residual", [[a.x, start], [x, start], [x, b.y], [side === "left" ? b.left : b.right, b.y]]);
    }
    const { memory, cross } = this.ends;
    if (memory && cross) {
      const [a, b] = [place(memory), place(cross)];
      const columns = [...this.sheet.querySelectorAll(".column")].map(place);
      const x = (columns[0].right + columns[1].left) / 2;
      add("memory", [[a.right, a.y], [x, a.y], [x, b.y], [b.left, b.y]]);
    }
    this.picture.setAttribute("viewBox", `0 0 ${sheet.width} ${sheet.height}`);
    this.picture.replaceChildren(...paths.flatMap(([name, points]) => drawn(name, points)));
  }
}

// A line with rounded corners through some points, and the head of an arrow at its end.
function drawn(name, points) {
  const steps = [`M${points[0]}`];
  for (let at = 1; at < points.length - 1; at++) {
    const [before, here, after] = points.slice(at - 1, at + 2);
    steps.push(`L${towards(here, before)}`, `Q${here} ${towards(here, after)}`);
  }
  const [last, end] = points.slice(-2);
  const [dx, dy] = [Math.sign(end[0] - last[0]), Math.sign(end[1] - last[1])];
  steps.push(`L${[end[0] - dx * 4, end[1] - dy * 4]}`);
  const [bx, by] = [end[0] - dx * 6, end[1] - dy * 6];
  const head = [end, [bx - dy * 3.5, by + dx * 3.5], [bx + dy * 3.5, by - dx * 3.5]];
  return [
    vector("path", { class: name, d: steps.join(" ") }),
    vector("path", { class: `${name} head`, d: `M${head.join(" L")} Z` }),
  ];
}

function towards(from, to) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy) || 1;
  const step = Math.min(ROUND, length / 2);
  return [from[0] + (dx / length) * step, from[1] + (dy / length) * step];
}

function vector(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
