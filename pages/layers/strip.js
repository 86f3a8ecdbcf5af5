// All tensors of a layer as miniatures, to scale, with lines from each tensor to those computed from it. Each is a button.

import { arrowPaths, SVG, svgPath } from "../ui/arrow_lines.js";
import { MASKED_LEVEL, pixelsOfColor, pixelsOfScale } from "../ui/colors.js";
import { decodeBase64, make, penOf, rootOf, viewOf } from "../ui/component.js";
import { fillIn } from "../ui/format.js";
import { fillHatched, paintCells } from "../ui/paint.js";
import { answerWithPicture, Sheet } from "../ui/picture.js";
import { linePoints, residualPoints } from "./strip_lines.js";

/**
 * @typedef {{
 *   path: string, title: string, shape: string, branch: "query" | "key" | "value" | null,
 *   width: number, height: number, rows: number, columns: number,
 *   levels: string, scale: string, color: string, says: string,
 * }} Frame
 */

/** The start and the end of a line. @typedef {[from: string, to: string]} Line */

/**
 * A part of the network: the paths of its tensors in rows of chains, and the lines between them (see flow.py).
 *
 * @typedef {{
 *   title: string, sources: { path: string, name: string, title: string }[], rows: string[][][],
 *   lines: Line[], residual: Line[],
 * }} Part
 */

/** @typedef {{ signed: string, weights: string, masked: string, line: string, query: string, key: string, value: string }} Colors */

/**
 * @typedef {{
 *   parts: Part[], frames: Record<string, Frame>, colors: Colors, text: Record<string, string>, says: string, selected: string,
 * }} Data
 */

/** @param {import("../ui/component.js").Mount<Data>} mount */
export default function strip({ data, parentElement, setTriggerValue }) {
  const root = rootOf(parentElement, "strip");
  const view = viewOf(root, () => new StripView(root));
  view.send = setTriggerValue;
  view.draw(data);
  return () => view.observer.disconnect();
}

class StripView {
  /** @type {Data} */ data;
  /** @type {(name: string, value: unknown) => void} */ send = () => {};
  /** @type {Map<Part, { flow: HTMLElement, picture: SVGElement, buttons: Map<string, HTMLElement> }>} */ drawn = new Map();
  /** @type {Record<string, import("../ui/colors.js").Pixels>} */ scales = {};
  count = 0;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.observer = new ResizeObserver(() => this.lines());
    answerWithPicture(root, () => saved(root));
  }

  /** @param {Data} data */
  draw(data) {
    this.data = data;
    const { colors, text } = data;
    for (const branch of /** @type {const} */ (["query", "key", "value"])) {
      this.root.style.setProperty(`--${branch}`, colors[branch]);
    }
    this.scales = {
      signed: pixelsOfScale(colors.signed),
      weights: pixelsOfScale(colors.weights),
      ids: pixelsOfColor(colors.line),
    };
    this.drawn = new Map();
    const sections = data.parts.map((part) => this.part(part, text));
    this.root.replaceChildren(make("div", { role: "group", "aria-label": data.says }, ...sections));
    this.observer.observe(this.root);
    this.lines();
    this.count += 1;
    this.root.dataset.painted = String(this.count);
  }

  /**
   * @param {Part} part
   * @param {Record<string, string>} text
   */
  part(part, text) {
    /** @type {Map<string, HTMLElement>} */
    const buttons = new Map();
    const sources = part.sources.map(({ path, name, title }) => {
      const label = make("span", { class: "name" }, name);
      const button = make("button", { type: "button", class: "source", title: path, "data-path": path }, label);
      button.append(make("span", { class: "size" }, title));
      buttons.set(path, button);
      return button;
    });
    const rows = part.rows.map((row) => make("div", { class: "row" }, ...row.map((chain) => this.chain(chain, buttons, text))));
    for (const [path, button] of buttons) button.addEventListener("click", () => this.send("pick", path));
    const picture = document.createElementNS(SVG, "svg");
    picture.setAttribute("aria-hidden", "true");
    const before = sources.length ? [make("div", { class: "sources" }, ...sources)] : [];
    const flow = make("div", { class: "flow" }, ...before, ...rows, picture);
    this.drawn.set(part, { flow, picture, buttons });
    const title = part.title ? [make("b", { class: "part" }, part.title)] : [];
    return make("section", part.title ? { "aria-label": part.title } : {}, ...title, flow);
  }

  /**
   * A list of tensors, each computed from the one before. If they belong to a branch, the list has a frame in its colour.
   *
   * @param {string[]} chain
   * @param {Map<string, HTMLElement>} buttons
   * @param {Record<string, string>} text
   */
  chain(chain, buttons, text) {
    const { frames, selected } = this.data;
    const { branch } = frames[chain[0]];
    const items = chain.map((path) => {
      const button = this.button(frames[path], text);
      if (path === selected) button.setAttribute("aria-current", "true");
      buttons.set(path, button);
      return make("li", {}, button);
    });
    const list = make("ol", {}, ...items);
    if (!branch) return list;
    const box = make("div", { class: "branch", style: `--color: var(--${branch})` });
    box.append(make("b", {}, text[branch]), list);
    return box;
  }

  /**
   * @param {Frame} frame
   * @param {Record<string, string>} text
   */
  button(frame, text) {
    const { colors } = this.data;
    const pixels = frame.color ? pixelsOfColor(frame.color) : this.scales[frame.scale];
    const canvas = miniature(frame, colors, pixels);
    const label = make("span", { class: "name" }, frame.title);
    const size = make("span", { class: "size" }, frame.shape);
    const button = make("button", { type: "button", title: frame.path, "data-path": frame.path }, canvas, label, size);
    button.setAttribute("aria-label", fillIn(text.frame, frame));
    button.setAttribute("aria-description", frame.says);
    return button;
  }

  lines() {
    for (const [part, { flow, picture, buttons }] of this.drawn) {
      const sheet = flow.getBoundingClientRect();
      if (!sheet.width) continue;
      /** @param {Element} element */
      const place = (element) => {
        const box = element.getBoundingClientRect();
        const [left, top] = [box.left - sheet.left, box.top - sheet.top];
        return {
          left,
          top,
          right: left + box.width,
          bottom: top + box.height,
          x: left + box.width / 2,
          y: top + box.height / 2,
        };
      };
      /** @param {string} path */
      const box = (path) => {
        const button = /** @type {HTMLElement} */ (buttons.get(path));
        return button.closest(".branch") ?? button;
      };
      /** The place of a branch or a source, or of a tensor's numbers above its caption. @param {string} path */
      const at = (path) => {
        const [whole, canvas] = [box(path), buttons.get(path)?.querySelector("canvas")];
        if (!canvas || whole.className === "branch") return place(whole);
        const { x, y } = place(canvas);
        return { ...place(whole), x, y };
      };
      const paths = part.lines.flatMap(([from, to]) => {
        const meeting = part.lines.filter((line) => line[1] === to);
        const offset = meeting.findIndex((line) => line[0] === from) - (meeting.length - 1) / 2;
        const points = linePoints(at(from), at(to), sheet.width, offset, isFree(box(from), box(to)));
        return arrow(this.data.frames[from]?.branch ?? "flow", points);
      });
      const around = part.residual.flatMap(([from, to]) => arrow("residual", residualPoints(at(from), at(to))));
      picture.setAttribute("viewBox", `0 0 ${sheet.width} ${sheet.height}`);
      picture.replaceChildren(...paths, ...around);
    }
  }
}

/**
 * Whether no element is between an element and another element of a lower row.
 *
 * @param {Element} from
 * @param {Element} to
 */
function isFree(from, to) {
  const [row, below] = [from.closest(".row, .sources"), to.closest(".row")];
  if (!row || row.nextElementSibling !== below) return row?.className === "sources";
  const { bottom } = from.getBoundingClientRect();
  return [...row.querySelectorAll(".branch, li > button")].every((each) => each.getBoundingClientRect().top < bottom);
}

/**
 * A line with its arrowhead.
 *
 * @param {string} name
 * @param {import("../ui/arrow_lines.js").Point[]} points
 */
function arrow(name, points) {
  const [line, head] = arrowPaths(points);
  return [svgPath(name, line), svgPath(`${name} head`, head)];
}

/**
 * @param {Frame} frame
 * @param {Colors} colors
 * @param {import("../ui/colors.js").Pixels} pixels
 */
function miniature(frame, colors, pixels) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [Math.round(frame.width * ratio), Math.round(frame.height * ratio)];
  const canvas = make("canvas", { "aria-hidden": "true", width, height });
  Object.assign(canvas.style, { width: `${frame.width}px`, height: `${frame.height}px` });
  const context = penOf(canvas);
  const levels = decodeBase64(frame.levels);
  if (levels.includes(MASKED_LEVEL)) fillHatched(context, ratio, colors, [0, 0, width, height]);
  paintCells(context, levels, frame.rows, frame.columns, pixels, [0, 0, width, height]);
  context.strokeStyle = colors.line;
  context.strokeRect(0.5, 0.5, width - 1, height - 1);
  return canvas;
}

/**
 * The whole strip as an SVG. The cells are images of pixels.
 *
 * @param {HTMLElement} root
 */
function saved(root) {
  const sheet = new Sheet(root);
  for (const box of root.querySelectorAll(".branch")) {
    sheet.rect(sheet.place(box), { fill: "none", stroke: getComputedStyle(box).borderColor });
  }
  for (const picture of root.querySelectorAll("svg")) {
    const [x, y] = sheet.place(picture);
    for (const path of picture.querySelectorAll("path")) {
      const { fill, stroke, strokeWidth } = getComputedStyle(path);
      const drawn = { d: path.getAttribute("d") ?? "", fill, stroke, "stroke-width": strokeWidth };
      sheet.add("path", { ...drawn, transform: `translate(${x} ${y})` });
    }
  }
  for (const canvas of root.querySelectorAll("canvas")) sheet.image(canvas);
  for (const words of root.querySelectorAll("b, .name, .size")) sheet.write(words);
  return sheet.svg();
}
