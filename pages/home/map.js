// The model as two columns of blocks. Every block is a link. The lines between the blocks are drawn after the page is laid out.

import { acrossPoints, aroundPoints, arrowPaths, flowPoints, SVG, svgPath } from "../ui/arrow_lines.js";
import { pixelsOfScale, ramp } from "../ui/colors.js";
import { clamp, closest, decodeBase64, make, range, rootOf, unchanged, viewOf } from "../ui/component.js";
import { fillIn, tokenText } from "../ui/format.js";
import { paintLevels } from "../ui/paint.js";
import { unpackParcel } from "../ui/parcel.js";
import { saidRows } from "../ui/strongest.js";
import { followLink, whenReleased } from "./links.js";

/** @typedef {import("./address.js").Link} Link */
/** @typedef {"encoder" | "decoder"} Stack */
/** @typedef {"left" | "right"} Side */

/** A block's glossary terms, and its number among the callouts. @typedef {{ terms?: string[], number?: number }} Explained */
/** @typedef {Explained & { type: "stack", stack: Stack, nodes: Node[] }} StackNode */
/** @typedef {Explained & { type: "tokens", id?: string, says: string, tokens: string[], shares?: string[], tips?: string[], step?: Link | null, link: Link | null }} TokensNode */
/**
 * @typedef {Explained & {
 *   type: "block", id?: string, title: string, note: string, thin?: boolean, kind?: string, branches?: boolean,
 *   link: Link | null, mask?: Link | null, mask_says?: string, heads?: string,
 *   mask_terms?: string[], heads_terms?: string[],
 * }} BlockNode
 */
/** @typedef {(TokensNode | BlockNode) & { branches?: boolean, kind?: string }} Node */

/**
 * The weights of one kind of attention: `shape` is [layers, heads, queries, keys], and `levels` has their bytes in this order.
 *
 * @typedef {{
 *   shape: [number, number, number, number], levels: string, link: Link | null, queries: string[], keys: string[],
 * }} Heads
 */

/**
 * @typedef {{
 *   columns: { name: string, kind: string, nodes: (StackNode | Node)[] }[],
 *   layers: Partial<Record<Stack, number>>, heads: Record<string, Heads> | null,
 *   terms: Record<string, string>, callouts: string[],
 *   scale: string, colors: Record<string, string>, text: Record<string, string>,
 * }} Data
 */

const GAP = 6; // px between a block and its explanation

/** @param {import("../ui/component.js").Mount<Uint8Array>} mount */
export default function map({ data: parcel, parentElement }) {
  const root = rootOf(parentElement, "map");
  /** @type {[Data, unknown]} */
  const [data] = unpackParcel(parcel);
  return viewOf(root, () => new View(root)).update(data);
}

class View {
  /** @type {Data} */ data;
  /** @type {import("../ui/colors.js").Pixels} */ pixels;
  /** @type {HTMLElement} */ sheet;
  /** @type {SVGElement} */ picture;
  /** @type {HTMLElement} */ explanation; // explains the block that is pointed at, focused or tapped
  /** @type {HTMLElement | null} */ tapped = null; // a second tap on it follows its link
  /** @type {Record<Stack, number>} */ layer = { encoder: 1, decoder: 1 };
  /** @type {Record<Stack, ((layer: number) => void)[]>} */ redrawn = { encoder: [], decoder: [] }; // called on a pick
  /** @type {[from: Element, to: Element][]} */ arrows = [];
  /** @type {[block: Element, join: Element, side: Side][]} */ around = []; // residual connections: from block to join
  /** @type {Record<string, Element>} */ ends = {}; // the elements of the nodes that have an id

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.observer = new ResizeObserver(() => this.lines());
    root.addEventListener("pointerover", (event) => {
      if (event.pointerType !== "touch") this.explain(closest(event, "[data-terms]"));
    });
    root.addEventListener("pointerleave", () => this.explain(null));
    root.addEventListener("focusin", (event) => this.explain(closest(event, "[data-terms]")));
    root.addEventListener("focusout", () => this.explain(null));
    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.explain(null);
    });
    root.addEventListener("click", (event) => this.tap(/** @type {PointerEvent} */ (event)), true);
  }

  /** @param {Data} data */
  update(data) {
    const same = unchanged(this.data, data, "columns", "layers", "heads", "colors", "text", "terms", "callouts");
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
    this.explanation = make("div", { class: "explanation" });
    this.tapped = null;
    const meanings = Object.entries(data.terms).map(([term, says]) => make("p", { id: termId(term) }, says));
    root.replaceChildren(
      ...(data.callouts.length ? [this.callouts()] : []),
      make("nav", { "aria-label": data.text.label }, this.sheet),
      this.explanation,
      make("div", { hidden: "" }, ...meanings),
    );
    for (const [stack] of stacks) this.pick(stack, this.layer[stack]);
  }

  // --- explanations

  /** The list of the numbers on the map, with a line of text for each. */
  callouts() {
    const lines = this.data.callouts.map((says) => make("li", {}, make("span", {}, says)));
    return make("ol", { class: "callouts", "aria-label": this.data.text.callouts_label }, ...lines);
  }

  /**
   * Let the terms of the glossary explain an element: in a box beside it, and as its description for screen readers.
   *
   * @template {HTMLElement} Part
   * @param {Part} element
   * @param {string[]} terms
   */
  withTerms(element, terms) {
    const known = terms.filter((term) => term in this.data.terms);
    if (!known.length) return element;
    element.dataset.terms = JSON.stringify(known);
    const ids = known.map(termId).join(" ");
    for (const part of [element, ...element.querySelectorAll("a, button")]) {
      if (part.matches("a, button")) part.setAttribute("aria-describedby", ids);
    }
    return element;
  }

  /**
   * Show the meanings of an element's terms beside it. Null clears them.
   *
   * @param {HTMLElement | null} element
   */
  explain(element) {
    const lines = element ? JSON.parse(element.dataset.terms ?? "[]") : [];
    const says = lines.map((/** @type {string} */ term) =>
      make("p", {}, make("b", {}, capital(term)), ` ${this.data.terms[term]}`),
    );
    if (element?.dataset.tip) says.push(make("p", {}, element.dataset.tip.replace("\n", " ").replaceAll("\n", " · ")));
    if (element && element === this.tapped) says.push(make("p", { class: "again" }, this.data.text.tap));
    this.explanation.replaceChildren(...says);
    if (element) this.putBeside(element);
  }

  /**
   * Put the explanation below an element, or above it if there is no room on the screen.
   *
   * @param {HTMLElement} element
   */
  putBeside(element) {
    const [box, map] = [element.getBoundingClientRect(), this.root.getBoundingClientRect()];
    const { offsetWidth, offsetHeight, style } = this.explanation;
    const below = box.bottom + GAP + offsetHeight < innerHeight;
    style.top = `${(below ? box.bottom + GAP : box.top - GAP - offsetHeight) - map.top}px`;
    style.left = `${clamp(0, box.left - map.left, map.width - offsetWidth)}px`;
  }

  /**
   * Let the first tap of a finger on a block explain the block, and the second tap follow its link.
   *
   * @param {PointerEvent} event
   */
  tap(event) {
    const element = closest(event, "[data-terms]");
    const leads = closest(event, "a");
    if (event.pointerType !== "touch") return;
    if (element && leads && element !== this.tapped) {
      event.preventDefault();
      event.stopPropagation();
    }
    this.tapped = leads ? element : null;
    this.explain(element);
  }

  /**
   * The element with a block's number among the callouts; empty if the block has no number.
   *
   * @param {Explained} node
   */
  number({ number }) {
    return number ? [make("span", { class: "number", "aria-hidden": "true" }, String(number))] : [];
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
   * The frame around one layer, with a button for each layer; then the first and the last block in the frame.
   *
   * @param {StackNode} node
   * @param {Side} side
   */
  stack({ stack, nodes, terms, number }, side) {
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
    const frame = make("div", { class: "stack" }, ...this.number({ number }), this.withTerms(head, terms ?? []));
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
  tokens({ says, tokens, shares, tips, step, link, terms = [], number }) {
    const chips = tokens.map((token, index) => {
      const words = [tokenText(token), ...(shares ? [make("small", {}, shares[index])] : [])];
      if (!tips || !step) return this.withTerms(make("span", { class: "chip" }, ...words), [token]);
      const chip = make("a", { class: "chip", title: tips[index], "data-tip": tips[index] }, ...words);
      followLink(chip, step, { step: index + 1 });
      return this.withTerms(chip, token in this.data.terms ? [token] : terms);
    });
    const row = this.anchor(tips ? null : link, null, { class: "chips" }, ...(chips.length ? chips : [this.data.text.nothing]));
    const special = [...new Set(tokens.filter((token) => token in this.data.terms))];
    if (!tips) this.withTerms(row, [...terms, ...special]);
    return make("div", { class: "tokens" }, ...this.number({ number }), make("span", { class: "label" }, says), row);
  }

  /**
   * @param {BlockNode} node
   * @param {string} kind
   * @param {Stack | null} stack
   */
  block({ title, note, thin, link, mask, mask_says, mask_terms, heads, heads_terms, kind: own, terms, number }, kind, stack) {
    const words = [make("span", { class: "title" }, title), ...(note ? [make("span", { class: "note" }, note)] : [])];
    const block = make("div", { class: `block${thin ? " thin" : ""}${own ? " own" : ""}`, style: `--color: var(--${kind})` });
    const line = make(
      "div",
      { class: "line" },
      this.withTerms(this.anchor(link, stack, { class: "name" }, ...words), terms ?? []),
    );
    if (mask) line.append(this.withTerms(this.anchor(mask, stack, { class: "mask" }, mask_says ?? ""), mask_terms ?? []));
    block.append(...this.number({ number }), line);
    if (heads && stack && this.data.heads) {
      block.append(this.heads(this.data.heads[heads], title, stack, heads_terms ?? []));
    }
    return block;
  }

  /**
   * A link to the picked layer. If `link` is missing, because its page does not exist, plain text.
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
   * @param {string[]} terms
   */
  heads({ shape, levels, link, queries, keys }, title, stack, terms) {
    const { text } = this.data;
    const [, count, rows, columns] = shape;
    const bytes = decodeBase64(levels);
    const strip = make("div", { class: "heads", style: `--across: ${count > 8 ? Math.ceil(count / 2) : count}` });
    for (const head of range(count)) {
      const canvas = make("canvas", {});
      const cell = link ? make("a", {}, canvas) : make("span", {}, canvas);
      this.redrawn[stack].push((layer) => {
        const place = (layer - 1) * count + head;
        paintLevels(canvas, bytes.subarray(place * rows * columns), columns, rows, this.pixels);
        const name = fillIn(text.head, { kind: title, layer, head: head + 1 });
        const said = saidRows(text, { queries, keys }, bytes, place, 1);
        cell.setAttribute("aria-label", fillIn(said ? text.head_says : text.head_masked, { head: name, rows: said }));
        cell.setAttribute("title", name);
        if (link && cell instanceof HTMLAnchorElement) followLink(cell, link, { layer: this.layer[stack], head: head + 1 });
      });
      strip.append(this.withTerms(cell, terms));
    }
    return strip;
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
    /** @type {[name: string, points: import("../ui/arrow_lines.js").Point[]][]} */
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
 * The id of the element with the meaning of a term.
 *
 * @param {string} term
 */
function termId(term) {
  return `term-${term.replace(/\W+/g, "-")}`;
}

/**
 * A term with a capital first letter.
 *
 * @param {string} term
 */
function capital(term) {
  return term[0].toUpperCase() + term.slice(1);
}
