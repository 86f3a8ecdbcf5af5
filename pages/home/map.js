// The model as two columns of blocks, which the server describes. Every block is a link. A person picks the layer of a stack. The
// lines between the blocks are drawn after the page is laid out.

import { acrossPoints, aroundPoints, arrowPaths, flowPoints, SVG, svgPath } from "../ui/arrow_lines.js";
import { unpack } from "../ui/chart/unpack.js";
import { pixelsOfScale, ramp } from "../ui/colors.js";
import { clamp, closest, decodeBase64, grown, make, rootOf, unchanged, viewOf } from "../ui/component.js";
import { fillIn } from "../ui/format.js";
import { paintLevels } from "../ui/paint.js";
import { saidRows } from "../ui/strongest.js";
import { followLinks, whenReleased } from "./links.js";

/** @typedef {import("./address.js").Link} Link */
/** @typedef {"encoder" | "decoder"} Stack */

/**
 * The weights of one kind of attention: `shape` is [layers, heads, queries, keys], and `levels` has their bytes in this order.
 *
 * @typedef {{
 *   shape: [number, number, number, number], levels: string, queries: string[], keys: string[],
 * }} Heads
 */

/**
 * `elements` is made by map_elements.py; `data-link` of an element is the place of its link in `links`.
 *
 * @typedef {{
 *   elements: import("../ui/component.js").Described[], links: Link[], layers: Partial<Record<Stack, number>>,
 *   heads: Record<string, Heads> | null, terms: Record<string, string>, scale: string, colors: Record<string, string>,
 *   text: Record<string, string>,
 * }} Data
 */

const GAP = 6; // px between a block and its explanation

/** @param {import("../ui/component.js").Mount<Uint8Array>} mount */
export default function map({ data: parcel, parentElement }) {
  const root = rootOf(parentElement, "map");
  /** @type {[Data, unknown]} */
  const [data] = unpack(parcel);
  return viewOf(root, () => new View(root)).update(data);
}

class View {
  /** @type {Data} */ data;
  /** @type {import("../ui/colors.js").Pixels} */ pixels;
  /** @type {Record<string, Uint8Array>} */ levels = {}; // kind of attention → the bytes of its weights
  /** @type {HTMLElement} */ sheet;
  /** @type {SVGElement} */ picture;
  /** @type {HTMLElement} */ explanation; // explains the block that is pointed at, focused or tapped
  /** @type {HTMLElement | null} */ tapped = null; // a second tap on it follows its link
  /** @type {HTMLElement | null} */ pointed = null;
  /** @type {Record<Stack, number>} */ layer = { encoder: 1, decoder: 1 };
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.observer = new ResizeObserver(() => this.lines());
    // Not pointerover: it also comes when the page moves below a pointer at rest.
    root.addEventListener("pointermove", (event) => {
      if (event.pointerType !== "touch") this.point(closest(event, "[data-terms]"));
    });
    root.addEventListener("pointerleave", () => this.point(null));
    root.addEventListener("focusin", (event) => this.explain(closest(event, "[data-terms]")));
    root.addEventListener("focusout", () => this.explain(null));
    root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.explain(null);
    });
    root.addEventListener("click", (event) => this.tap(/** @type {PointerEvent} */ (event)), true);
    root.addEventListener("click", (event) => {
      const layer = closest(event, "[data-layer]");
      const stack = /** @type {Stack | undefined} */ (closest(event, "[data-stack]")?.dataset.stack);
      if (layer && stack) this.pick(stack, Number(layer.dataset.layer));
    });
  }

  /** @param {Data} data */
  update(data) {
    const same = unchanged(this.data, data, "elements", "links", "heads", "colors", "text", "terms");
    this.data = data;
    whenReleased(() => {
      if (!same) this.build();
      this.observer.observe(this.root);
      this.lines();
    });
    return () => this.root.isConnected || this.observer.disconnect();
  }

  build() {
    const { data, root } = this;
    this.pixels = pixelsOfScale(data.scale);
    for (const [kind, { levels }] of Object.entries(data.heads ?? {})) this.levels[kind] = decodeBase64(levels);
    for (const [name, color] of Object.entries(data.colors)) root.style.setProperty(`--${name}`, color);
    root.style.setProperty("--ramp", ramp(this.pixels, 8));
    this.explanation = make("div", { class: "explanation" });
    this.tapped = null;
    root.replaceChildren(...data.elements.map(grown), this.explanation);
    this.picture = document.createElementNS(SVG, "svg");
    this.picture.setAttribute("aria-hidden", "true");
    this.sheet = rootOf(root, "sheet");
    this.sheet.append(this.picture);
    followLinks(root, data.links);
    for (const [stack, layers] of /** @type {[Stack, number][]} */ (Object.entries(data.layers))) {
      this.pick(stack, Math.min(this.layer[stack], layers));
    }
  }

  // --- explanations

  /** @param {HTMLElement | null} element */
  point(element) {
    if (element !== this.pointed) this.explain(element);
    this.pointed = element;
  }

  /**
   * Show the meanings of an element's terms beside it. Null clears them.
   *
   * @param {HTMLElement | null} element
   */
  explain(element) {
    const lines = element ? JSON.parse(element.dataset.terms ?? "[]") : [];
    const says = lines.map((/** @type {string} */ term) => make("p", {}, make("b", {}, term), ` ${this.data.terms[term]}`));
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

  // --- layers

  /**
   * Show a layer of a stack: its links, and the weights of its heads.
   *
   * @param {Stack} stack
   * @param {number} layer counted from 1
   */
  pick(stack, layer) {
    const frame = /** @type {HTMLElement} */ (this.root.querySelector(`[data-stack="${stack}"]`));
    this.layer[stack] = layer;
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (frame.querySelectorAll("[data-layer]"))) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.layer) === layer));
    }
    for (const cell of /** @type {NodeListOf<HTMLElement>} */ (frame.querySelectorAll("[data-head]"))) this.paint(cell, layer);
    followLinks(frame, this.data.links, { layer, index: layer - 1 });
  }

  /**
   * Paint the weights of a head of a layer, and tell them.
   *
   * @param {HTMLElement} cell
   * @param {number} layer
   */
  paint(cell, layer) {
    const { text, heads } = this.data;
    const { kind = "", head = "", block = "" } = cell.dataset;
    const { shape, queries, keys } = /** @type {Record<string, Heads>} */ (heads)[kind];
    const [, count, rows, columns] = shape;
    const place = (layer - 1) * count + Number(head) - 1;
    const bytes = this.levels[kind];
    const canvas = /** @type {HTMLCanvasElement} */ (cell.firstChild);
    paintLevels(canvas, bytes.subarray(place * rows * columns), columns, rows, this.pixels);
    const name = fillIn(text.head, { kind: block, layer, head });
    const said = saidRows(text, { queries, keys }, bytes, place, 1);
    cell.setAttribute("aria-label", fillIn(said ? text.head_says : text.head_masked, { head: name, rows: said }));
    cell.title = name;
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
    const lines = [];
    const columns = [...this.sheet.querySelectorAll(".column")];
    for (const column of columns) {
      const side = column.matches(".left") ? "left" : "right";
      const blocks = [...column.querySelectorAll(".block, .tokens")];
      blocks.slice(1).forEach((block, index) => {
        const [from, to] = [place(blocks[index]), place(block)];
        lines.push(["flow", flowPoints(from, to)]);
        if (blocks[index].matches(".branches")) lines.push(["residual", aroundPoints(from, to, side)]);
      });
    }
    const [memory, cross] = ["#memory", "#cross"].map((id) => this.sheet.querySelector(id));
    if (memory && cross) {
      const [left, right] = columns.map(place);
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
