// All tensors of a layer in miniature, in order, to scale; each is a button.

import { decodeBase64, fillIn, make, viewOf } from "../ui/component.js";
import { MASKED_LEVEL, fillHatched, paintCells, pixelsOfColor, pixelsOfScale } from "../ui/paint.js";
import { Sheet, answerWithPicture } from "../ui/picture.js";

export default function strip({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".strip");
  const view = viewOf(root, () => {
    answerWithPicture(root, () => drawn(root));
    return {};
  });
  view.send = setTriggerValue;
  const { frames, colors, text } = data;
  const ratio = devicePixelRatio || 1;
  const pixels = { signed: pixelsOfScale(colors.signed), weights: pixelsOfScale(colors.weights), ids: pixelsOfColor("rgb(128, 128, 128)") };
  const items = frames.flatMap((frame) => {
    const canvas = make("canvas", { "aria-hidden": "true" });
    canvas.width = Math.round(frame.width * ratio);
    canvas.height = Math.round(frame.height * ratio);
    Object.assign(canvas.style, { width: `${frame.width}px`, height: `${frame.height}px` });
    const context = canvas.getContext("2d");
    const box = [0, 0, canvas.width, canvas.height];
    const levels = decodeBase64(frame.levels);
    if (levels.includes(MASKED_LEVEL)) fillHatched(context, ratio, colors, box);
    paintCells(context, levels, frame.rows, frame.columns, frame.color ? pixelsOfColor(frame.color) : pixels[frame.scale], box);
    context.strokeStyle = colors.line;
    context.strokeRect(0.5, 0.5, box[2] - 1, box[3] - 1);
    const label = make("span", { class: "name" }, frame.title);
    const size = make("span", { class: "size" }, frame.shape);
    const button = make("button", { type: "button", title: frame.path, "data-path": frame.path }, canvas, label, size);
    button.setAttribute("aria-label", fillIn(text.frame, frame));
    if (frame.path === data.selected) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => view.send("pick", frame.path));
    const item = make("li", {}, button);
    return frame.part ? [make("li", { class: "part" }, make("b", {}, frame.part)), item] : [item];
  });
  const list = make("ol", {}, ...items);
  list.setAttribute("aria-label", data.says);
  root.replaceChildren(list);
  root.dataset.painted = (view.count = (view.count ?? 0) + 1);
}

// All of it as an SVG, the cells as pixels.
function drawn(root) {
  const sheet = new Sheet(root);
  for (const canvas of root.querySelectorAll("canvas")) {
    const [x, y, width, height] = sheet.place(canvas);
    sheet.add("image", { x, y, width, height, href: canvas.toDataURL(), style: "image-rendering: pixelated" });
  }
  for (const words of root.querySelectorAll(".part b, .name, .size")) sheet.write(words);
  return sheet.svg();
}
