// All tensors of a layer in miniature, in order, to scale; each is a button.

import { MASKED_LEVEL, pixelsOfColor, pixelsOfScale } from "../ui/colors.js";
import { decodeBase64, make, penOf, rootOf, viewOf } from "../ui/component.js";
import { fillIn } from "../ui/format.js";
import { fillHatched, paintCells } from "../ui/paint.js";
import { Sheet, answerWithPicture } from "../ui/picture.js";

/**
 * @typedef {{
 *   path: string, title: string, shape: string, part: string,
 *   width: number, height: number, rows: number, columns: number,
 *   levels: string, scale: string, color: string,
 * }} Frame
 */

/** @typedef {{ signed: string, weights: string, masked: string, line: string }} Colors */

/** @typedef {{ frames: Frame[], colors: Colors, text: Record<string, string>, says: string, selected: string }} Data */

/** @param {import("../ui/component.js").Mount<Data>} mount */
export default function strip({ data, parentElement, setTriggerValue }) {
  const root = rootOf(parentElement, "strip");
  const view = viewOf(root, () => {
    answerWithPicture(root, () => drawn(root));
    return { send: setTriggerValue, count: 0 };
  });
  view.send = setTriggerValue;
  const { frames, colors, text } = data;
  /** @type {Record<string, import("../ui/colors.js").Pixels>} */
  const scales = {
    signed: pixelsOfScale(colors.signed),
    weights: pixelsOfScale(colors.weights),
    ids: pixelsOfColor(colors.line),
  };
  const items = frames.flatMap((frame) => {
    const canvas = miniature(frame, colors, frame.color ? pixelsOfColor(frame.color) : scales[frame.scale]);
    const label = make("span", { class: "name" }, frame.title);
    const size = make("span", { class: "size" }, frame.shape);
    const button = make("button", { type: "button", title: frame.path, "data-path": frame.path }, canvas, label, size);
    button.setAttribute("aria-label", fillIn(text.frame, frame));
    if (frame.path === data.selected) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => view.send("pick", frame.path));
    const item = make("li", {}, button);
    return frame.part ? [make("li", { class: "part" }, make("b", {}, frame.part)), item] : [item];
  });
  root.replaceChildren(make("ol", { "aria-label": data.says }, ...items));
  view.count += 1;
  root.dataset.painted = String(view.count);
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
 * All of it as an SVG, the cells as pixels.
 *
 * @param {HTMLElement} root
 */
function drawn(root) {
  const sheet = new Sheet(root);
  for (const canvas of root.querySelectorAll("canvas")) sheet.image(canvas);
  for (const words of root.querySelectorAll(".part b, .name, .size")) sheet.write(words);
  return sheet.svg();
}
