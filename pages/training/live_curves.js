// Curves that grow while a model is trained, and the model's answer to one text. Both are drawn again at each message of the
// server.

import { make, rootOf, viewOf } from "../ui/component.js";
import { fillIn, tokenText } from "../ui/format.js";
import { Sheet, answerWithPicture } from "../ui/picture.js";
import { line, written } from "./live_curves_lines.js";

const [WIDTH, HEIGHT] = [300, 130]; // in the coordinates of a curve; the picture is scaled to the available width
const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {{ token: string, share: number, right: boolean | null }} Written
 * @typedef {{ step: number, text: string, tokens: Written[], right: boolean | null, expected: string | null, ended: boolean }}
 * Answer
 * @typedef {{
 *   steps: number,
 *   curves: Record<"loss" | "accuracy" | "rate", [step: number, value: number][]>,
 *   answer: Answer | null,
 *   text: Record<string, string>,
 * }} Data
 */

/** @param {import("../ui/component.js").Mount<Data>} mount */
export default function liveCurves({ data, parentElement }) {
  const root = rootOf(parentElement, "live_curves");
  const view = viewOf(root, () => {
    answerWithPicture(root, () => picture(root));
    return { shown: "" };
  });
  // Streamlit also calls this when the theme changes. Nothing must be drawn then, because the colours come from the page's
  // styles.
  const shown = JSON.stringify(data);
  if (shown === view.shown) return;
  view.shown = shown;
  root.replaceChildren(panels(data), answer(data));
  root.dataset.painted = String(data.curves.loss.at(-1)?.[0] ?? 0);
}

/** @param {Data} data */
function panels({ curves, steps, text }) {
  const top = Math.max(0.1, ...curves.loss.map(([, value]) => value));
  const fastest = Math.max(1e-9, ...curves.rate.map(([, value]) => value));
  return make(
    "div",
    { class: "panels" },
    panel("loss", curves.loss, steps, top, text),
    panel("accuracy", curves.accuracy, steps, 1, text),
    panel("rate", curves.rate, steps, fastest, text),
  );
}

/**
 * @param {"loss" | "accuracy" | "rate"} name
 * @param {[number, number][]} points
 * @param {number} steps
 * @param {number} most
 * @param {Record<string, string>} text
 */
function panel(name, points, steps, most, text) {
  const last = points.at(-1);
  const value = last ? written(name, last[1]) : name === "accuracy" ? text.no_check : text.empty;
  const svg = svgElement("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
  svg.setAttribute("aria-label", fillIn(text.alt, { name: text[name], value }));
  for (const y of [0, HEIGHT / 2, HEIGHT]) svg.append(svgElement("path", { class: "axis", d: `M0 ${y}H${WIDTH}` }));
  svg.append(svgElement("path", { class: "line", d: line(points, steps, most, WIDTH, HEIGHT) }));
  return make(
    "figure",
    { class: "panel" },
    make("figcaption", {}, make("span", {}, text[name]), make("b", {}, value)),
    make("div", { class: "top" }, last ? written(name, most) : ""),
    /** @type {any} */ (svg),
    make("div", { class: "ends" }, make("span", {}, `${text.step} 0`), make("span", {}, steps.toLocaleString("en"))),
  );
}

/** @param {Data} data */
function answer({ answer: shown, text }) {
  const place = make("div", { class: "answer" });
  if (!shown) return place;
  const verdict =
    shown.right === null ? text.no_rule : shown.right ? text.is_right : `${text.is_wrong}; ${rightAnswer(shown, text)}`;
  const parts = [fillIn(text.of, { step: shown.step.toLocaleString("en") }), verdict, shown.ended ? "" : text.not_ended];
  const tokens = shown.tokens.map(({ token, share, right }) => {
    const percent = `${Math.round(100 * share)}%`;
    return make(
      "li",
      { class: right === null ? "" : right ? "right" : "wrong", title: fillIn(text.probability, { token, share: percent }) },
      make("span", {}, tokenText(token)),
      make("span", { class: "share" }, percent),
    );
  });
  place.append(
    make("span", {}, make("b", {}, text.answer), ` (${parts.filter(Boolean).join(", ")}): ${shown.text} →`),
    make("ol", { class: "tokens" }, ...tokens),
  );
  return place;
}

/**
 * @param {Answer} shown
 * @param {Record<string, string>} text
 */
function rightAnswer(shown, text) {
  return fillIn(text.right, { answer: shown.expected ?? "" });
}

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 */
function svgElement(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/**
 * The curves and the answer as an SVG.
 *
 * @param {HTMLElement} root
 */
function picture(root) {
  const sheet = new Sheet(root);
  for (const svg of root.querySelectorAll("svg")) {
    const [x, y, width, height] = sheet.place(svg);
    for (const path of svg.querySelectorAll("path")) {
      const { stroke, strokeWidth } = getComputedStyle(path);
      const transform = `translate(${x} ${y}) scale(${width / WIDTH} ${height / HEIGHT})`;
      const shape = { d: path.getAttribute("d") ?? "", transform, fill: "none", stroke, "stroke-width": strokeWidth };
      sheet.add("path", { ...shape, "vector-effect": "non-scaling-stroke" });
    }
  }
  for (const words of root.querySelectorAll("figcaption > *, .top, .ends > *, .answer > span, .tokens span"))
    sheet.write(words);
  return sheet.svg();
}
