// The model as two columns of blocks, every block a link; lines between them are drawn over the page once it is laid out.

import { pixelsOfScale, ramp } from "../ui/colors.js";
import { decodeBase64, make, penOf, range, rootOf, unchanged, viewOf } from "../ui/component.js";
import { fillIn, tokenText } from "../ui/format.js";
import { followLink, whenReleased } from "./links.js";
import { acrossPoints, aroundPoints, arrowPaths, flowPoints } from "./map_lines.js";

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {import("./address.js").Link} Link */
/** @typedef {"encoder" | "decoder"} Stack */
/** @typedef {"left" | "right"} Side */

/** @typedef {{ type: "stack", stack: Stack, nodes: Node[] }} StackNode */
/** @typedef {{ type: "tokens", id?: string, says: string, tokens: string[], shares?: string[], tips?: string[], step?: Link | null, link: Link | null }} TokensNode */
/**
 * @typedef {{
 *   type: "block", id?: string, title: string, note: string, thin?: boolean, kind?: string, branches?: boolean,
 *   link: Link | null, mask?: Link | null, mask_says?: string, heads?: string,
 * }} BlockNode
 */
/** @typedef {(TokensNode | BlockNode) & { branches?: boolean, kind?: string }} Node */

/**
 * Of one kind of attention: layers, heads, queries and keys, and their levels in that order.
 *
 * @typedef {{ shape: [number, number, number, number], levels: string, link: Link | null }} Heads
 */

/**
 * @typedef {{
 *   columns: { name: string, kind: string, nodes: (StackNode | Node)[] }[],
 *   layers: Partial<Record<Stack, number>>, heads: Record<string, Heads> | null,
 *   scale: string, top: number, colors: Record<string, string>, text: Record<string, string>,
 * }} Data
 */

/** @param {import("../ui/component.js").Mount<Data>} mount */
export default function map({ data, parentElement }) {
  const root = rootOf(parentElement, "map");
  return viewOf(root, () => new View(root)).update(data);
}

class View {
  /** @type {Data} */ data;
  /** @type {import("../ui/colors.js").Pixels} */ pixels;
  /** @type {HTMLElement} */ sheet;
  /** @type {SVGElement} */ picture;
  /** @type {Record<Stack, number>} */ layer = { encoder: 1, decoder: 1 };
  /** @type {Record<Stack, ((layer: number) => void)[]>} */ redrawn = { encoder: [], decoder: [] }; // by another layer
  /** @type {[from: Element, to: Element][]} */ arrows = [];
  /** @type {[block: Element, join: Element, side: Side][]} */ around = []; // a block, and where its way around joins again
  /** @type {Record<string, Element>} */ ends = {}; // blocks with a name

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.observer = new ResizeObserver(() => this.lines());
  }

  /** @param {Data} data */
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
    const stacks = /** @type {[Stack, number][]} */ (Object.entries(data.layers));
    for (const [name, color] of Object.entries(data.colors)) root.style.setProperty(`--${name}`, color);
    for (const [stack, layers] of stacks) this.layer[stack] = Math.min(this.layer[stack], layers);
    this.pixels = pixelsOfScale(data.scale);
    this.redrawn = { encoder: [], decoder: [] };
    [this.arrows, this.around, this.ends] = [[], [], {}];
    const columns = data.columns.map((column, index) => this.column(column, index ? "right" : "left"));
    this.picture = document.createElementNS(SVG, "svg");
    this.picture.setAttribute("aria-hidden", "true");
    this.sheet = make("div", { class: columns.length > 1 ? "sheet" : "sheet one" }, ...columns, this.picture);
    if (data.heads) columns[0].append(this.legend());
    root.replaceChildren(make("nav", { "aria-label": data.text.label }, this.sheet));
    for (const [stack] of stacks) this.pick(stack, this.layer[stack]);
  }

  // --- blocks

  /**
   * @param {Data["columns"][number]} column
   * @param {Side} side
   */
  column({ name, kind, nodes }, side) {
    const column = make("section", { class: `column ${side}`, style: `--color: var(--${kind})`, "aria-label": name });
    column.append(make("h3", {}, name));
    /** @type {Element | null} */
    let before = null;
    for (const node of nodes) {
      const [element, first, last] = node.type === "stack" ? this.stack(node, side) : this.single(node, kind, null);
      column.append(element);
      if (before) this.arrows.push([before, first]);
      before = last;
    }
    return column;
  }

  /**
   * A frame around one layer, with a button for each; and its first and last block.
   *
   * @param {StackNode} node
   * @param {Side} side
   */
  stack({ stack, nodes }, side) {
    const { text, layers } = this.data;
    const buttons = range(layers[stack] ?? 0).map((index) => {
      const button = make(
        "button",
        { type: "button", "aria-label": fillIn(text.layer, { layer: index + 1 }) },
        String(index + 1),
      );
      button.addEventListener("click", () => this.pick(stack, index + 1));
      return button;
    });
    const says = make("span", {}, fillIn(text.layers, { count: layers[stack] }));
    const head = make("div", { class: "layers", role: "group", "aria-label": text.layers_label }, says, ...buttons);
    const frame = make("div", { class: "stack" }, head);
    this.redrawn[stack].push((layer) => {
      buttons.forEach((button, index) => {
        button.setAttribute("aria-pressed", String(index + 1 === layer));
      });
    });
    const elements = nodes.map((node) => this.single(node, stack, stack)[0]);
    frame.append(...elements);
    elements.slice(1).forEach((element, index) => {
      this.arrows.push([elements[index], element]);
    });
    nodes.forEach((node, index) => {
      if (node.branches) this.around.push([elements[index], elements[index + 1], side]);
    });
    return [frame, elements[0], elements[elements.length - 1]];
  }

  /**
   * @param {Node} node
   * @param {string} kind
   * @param {Stack | null} stack
   */
  single(node, kind, stack) {
    const element = node.type === "tokens" ? this.tokens(node) : this.block(node, node.kind ?? kind, stack);
    if (node.id) this.ends[node.id] = element;
    return [element, element, element];
  }

  /** @param {TokensNode} node */
  tokens({ says, tokens, shares, tips, step, link }) {
    const chips = tokens.map((token, index) => {
      const words = [tokenText(token), ...(shares ? [make("small", {}, shares[index])] : [])];
      if (!tips || !step) return make("span", { class: "chip" }, ...words);
      const chip = make("a", { class: "chip", title: tips[index] }, ...words);
      followLink(chip, step, { step: index + 1 });
      return chip;
    });
    const row = this.anchor(tips ? null : link, null, { class: "chips" }, ...(chips.length ? chips : [this.data.text.nothing]));
    return make("div", { class: "tokens" }, make("span", { class: "label" }, says), row);
  }

  /**
   * @param {BlockNode} node
   * @param {string} kind
   * @param {Stack | null} stack
   */
  block({ title, note, thin, link, mask, mask_says, heads, kind: own }, kind, stack) {
    const words = [make("span", { class: "title" }, title), ...(note ? [make("span", { class: "note" }, note)] : [])];
    const block = make("div", { class: `block${thin ? " thin" : ""}${own ? " own" : ""}`, style: `--color: var(--${kind})` });
    const line = make("div", { class: "line" }, this.anchor(link, stack, { class: "name" }, ...words));
    if (mask) line.append(this.anchor(mask, stack, { class: "mask" }, mask_says ?? ""));
    block.append(line);
    if (heads && stack && this.data.heads) block.append(this.heads(this.data.heads[heads], title, stack));
    return block;
  }

  /**
   * A link that follows the layer that is picked; plain text where its page is not there.
   *
   * @param {Link | null | undefined} link
   * @param {Stack | null} stack
   * @param {Record<string, string>} attributes
   * @param {...(Element | string)} children
   */
  anchor(link, stack, attributes, ...children) {
    if (!link) return make("span", attributes, ...children);
    const anchor = make("a", attributes, ...children);
    const places = () => (stack ? { layer: this.layer[stack], index: this.layer[stack] - 1 } : {});
    const point = () => followLink(anchor, link, places());
    if (stack) this.redrawn[stack].push(point);
    else point();
    return anchor;
  }

  // --- heads

  /**
   * @param {Heads} heads
   * @param {string} title
   * @param {Stack} stack
   */
  heads({ shape, levels, link }, title, stack) {
    const { text } = this.data;
    const [, count, rows, columns] = shape;
    const bytes = decodeBase64(levels);
    const strip = make("div", { class: "heads", style: `--across: ${count > 8 ? Math.ceil(count / 2) : count}` });
    for (const head of range(count)) {
      const canvas = make("canvas", { width: columns, height: rows });
      const cell = link ? make("a", {}, canvas) : make("span", {}, canvas);
      this.redrawn[stack].push((layer) => {
        this.paint(canvas, bytes.subarray(((layer - 1) * count + head) * rows * columns));
        const name = fillIn(text.head, { kind: title, layer, head: head + 1 });
        cell.setAttribute("aria-label", name);
        cell.setAttribute("title", name);
        if (link && cell instanceof HTMLAnchorElement) followLink(cell, link, { layer: this.layer[stack], head: head + 1 });
      });
      strip.append(cell);
    }
    return strip;
  }

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {Uint8Array} levels as many as the canvas has pixels, or more
   */
  paint(canvas, levels) {
    const context = penOf(canvas);
    const image = context.createImageData(canvas.width, canvas.height);
    const shades = new Uint32Array(image.data.buffer);
    // What is masked stays transparent: the hatch behind shows.
    for (let cell = 0; cell < shades.length; cell++) shades[cell] = this.pixels[levels[cell]];
    context.putImageData(image, 0, 0);
  }

  legend() {
    const { text } = this.data;
    const bar = make("span", { class: "bar", style: `background: ${ramp(this.pixels, 8)}` });
    return make(
      "div",
      { class: "legend" },
      make("span", {}, text.legend),
      make("span", {}, "0", bar, "1"),
      make("span", {}, make("span", { class: "swatch" }), text.masked),
    );
  }

  /**
   * @param {Stack} stack
   * @param {number} layer counted from 1
   */
  pick(stack, layer) {
    this.layer[stack] = layer;
    for (const redraw of this.redrawn[stack]) redraw(layer);
  }

  // --- lines

  lines() {
    const sheet = this.sheet.getBoundingClientRect();
    if (!sheet.width) return;
    /** @param {Element} element */
    const place = (element) => {
      const box = element.getBoundingClientRect();
      const [left, top] = [box.left - sheet.left, box.top - sheet.top];
      return { left, top, right: left + box.width, bottom: top + box.height, x: left + box.width / 2, y: top + box.height / 2 };
    };
    /** @type {[name: string, points: import("./map_lines.js").Point[]][]} */
    const lines = this.arrows.map(([from, to]) => ["flow", flowPoints(place(from), place(to))]);
    for (const [block, join, side] of this.around) lines.push(["residual", aroundPoints(place(block), place(join), side)]);
    const { memory, cross } = this.ends;
    if (memory && cross) {
      const [left, right] = [...this.sheet.querySelectorAll(".column")].map(place);
      lines.push(["memory", acrossPoints(place(memory), place(cross), (left.right + right.left) / 2)]);
    }
    this.picture.setAttribute("viewBox", `0 0 ${sheet.width} ${sheet.height}`);
    const paths = lines.flatMap(([name, points]) => {
      const [line, head] = arrowPaths(points);
      return [svgPath(name, line), svgPath(`${name} head`, head)];
    });
    this.picture.replaceChildren(...paths);
  }
}

/**
 * @param {string} name its class
 * @param {string} d
 */
function svgPath(name, d) {
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("class", name);
  path.setAttribute("d", d);
  return path;
}
