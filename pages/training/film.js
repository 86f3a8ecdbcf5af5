// The frames of a training on one slider: curves, the answer, a distribution, and every head's map. At first the data contain
// only one frame. As soon as the pointer, the focus or a press reaches the film, it asks the server for the others. After that,
// moving between frames needs no request. When the slider stops, the film sends the frame to the server.

import { clamp, make, rootOf, unchanged, viewOf } from "../ui/component.js";
import { fillIn, percent, tokenText } from "../ui/format.js";
import { HeadGrid } from "../ui/head_grid_view.js";
import { unpackParcel } from "../ui/parcel.js";
import { Sheet, answerWithPicture } from "../ui/picture.js";
import { Playback } from "../ui/playback.js";
import { PlaybackRow } from "../ui/playback_row.js";
import { axisSteps, frameAt, isReady, levelsOfFrame, placeOfStep } from "./film_frames.js";

const PACE = 900; // ms between two frames
const WIDE = 400; // the width of a curve in its own units
const [MIDDLE, LARGEST_TEXT] = [116, 2]; // the height between the edges; the largest factor by which the text can grow
const SVG = "http://www.w3.org/2000/svg";

/** @typedef {import("./film_frames.js").Frame} Frame */
/** @typedef {import("./film_frames.js").ReadyFrame} ReadyFrame */

/**
 * @typedef {{
 *   film: string, frames: Frame[], history: { step: number, loss: number, accuracy: number }[], target: string[],
 *   pairs: number, frame: number, row: number, grid: any, text: Record<string, string>,
 * }} FilmData
 */

/** @param {import("../ui/component.js").Mount<Uint8Array>} mount */
export default function film({ data: parcel, parentElement, setStateValue, setTriggerValue }) {
  const [data, levels] = unpackParcel(parcel);
  const root = rootOf(parentElement, "film");
  const view = viewOf(root, () => new Film(root, data.grid.text));
  view.send = setStateValue;
  view.sendTrigger = setTriggerValue;
  view.show(data, levels);
  return () => root.isConnected || view.playback.halt();
}

class Film {
  /** @type {FilmData} */ data;
  /** @type {Uint8Array<ArrayBuffer>} */ levels;
  /** @type {PlaybackRow} */ moves;
  /** @type {(name: string, value: unknown) => void} */ send = () => {};
  /** @type {(name: string, value: unknown) => void} */ sendTrigger = () => {};
  /** @type {SVGElement[]} */ cursors = [];
  row = 0;
  painted = 0;
  asked = ""; // the name of the film whose frames were requested

  /**
   * @param {HTMLElement} root
   * @param {Record<string, string>} gridText
   */
  constructor(root, gridText) {
    this.root = root;
    this.playback = new Playback(
      PACE,
      () => this.paint(),
      (index) => this.send("frame", index),
    );
    this.hint = make("p", { class: "hint", "data-words": "" });
    this.answer = make("p", { class: "answer", "aria-live": "polite" });
    this.tokens = make("ol", { class: "tokens chips" });
    this.bars = make("ol", { class: "bars" });
    this.curves = make("div", { class: "curves" });
    this.barsTitle = make("h3", {});
    this.gridRoot = make("div", { class: "head_grid" });
    this.grid = new HeadGrid(this.gridRoot, gridText, false);
    answerWithPicture(root, () => this.drawn());
    for (const sign of ["pointerenter", "focusin", "pointerdown"]) root.addEventListener(sign, () => this.ask());
    root.addEventListener("keydown", (event) => {
      // In the grid of heads, the arrow keys move from head to head.
      if (event.target !== this.grid.canvas) this.moves.key(event);
    });
  }

  /**
   * @param {FilmData} data
   * @param {Uint8Array<ArrayBuffer>} levels
   */
  show(data, levels) {
    const before = this.data;
    // If only frames of the same film were added, the position must not change, because the film may be playing.
    const moved = !unchanged(before, data, "film", "frame", "row");
    const built = unchanged(before, data, "film", "history", "text");
    [this.data, this.levels] = [data, levels];
    const row = moved && this.playback.still ? data.row : this.row;
    this.row = clamp(0, row, data.target.length - 1);
    this.playback.take(data.frames.length, data.frame, moved);
    if (!built) this.build();
    this.paint();
  }

  /** Request the missing frames, once for each film. */
  ask() {
    if (this.asked === this.data.film || this.data.frames.every(isReady)) return;
    this.asked = this.data.film;
    this.sendTrigger("asked", this.data.film);
  }

  /** The room for labels around a curve, and the height of the curve with it. Both grow with the text. */
  get edges() {
    const large = clamp(1, Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16, LARGEST_TEXT);
    const [top, bottom] = [10 * large, 24 * large];
    return { left: 44 * large, right: 12 * large, top, high: top + MIDDLE + bottom };
  }

  /** The frame that is shown, counted from 0. */
  get frame() {
    return this.playback.index;
  }

  build() {
    const { frames, text } = this.data;
    const steps = frames[frames.length - 1].step;
    this.moves = new PlaybackRow(this.playback, text, () => fillIn(text.place, { step: frames[this.frame].step, steps }));
    const reading = make("section", {}, this.answer, this.barsTitle, this.tokens, this.bars);
    this.hint.textContent = text.hint;
    const parts = make("div", { class: "parts" }, this.curves, reading);
    this.root.replaceChildren(this.hint, this.moves.element, parts, this.gridRoot);
    this.cursors = [];
    this.curves.replaceChildren(this.curve("loss"), this.curve("accuracy"), this.legend());
  }

  legend() {
    const { text } = this.data;
    const [line, point] = [make("i", { class: "line" }), make("i", { class: "point" })];
    return make(
      "p",
      { class: "marks", "data-words": "" },
      make("span", {}, line, text.recorded),
      make("span", {}, point, fillIn(text.computed, { pairs: this.data.pairs })),
    );
  }

  /**
   * A curve over the steps. The values recorded in training are a line, and the frames are points. A click goes to the nearest
   * frame, and the cursor can be dragged.
   *
   * @param {"loss" | "accuracy"} name
   */
  curve(name) {
    const { edges } = this;
    const { frames, history, text } = this.data;
    const [last, bottom] = [frames[frames.length - 1].step, edges.top + MIDDLE];
    const values = [...history, ...frames].map((entry) => entry[name] ?? 0);
    const most = name === "accuracy" ? 1 : Math.max(...values) * 1.05 || 1;
    /** @param {number} step */
    const x = (step) => edges.left + placeOfStep(step, last) * (WIDE - edges.left - edges.right);
    /** @param {number} value */
    const y = (value) => bottom - (value / most) * MIDDLE;
    const svg = svgPart("svg", { viewBox: `0 0 ${WIDE} ${edges.high}`, role: "img", "aria-label": this.course(name) });
    for (const step of axisSteps(last)) {
      svg.append(svgPart("line", { class: "rule", x1: x(step), x2: x(step), y1: edges.top, y2: bottom }));
      const anchor = step === last ? "end" : "middle";
      const at = { x: step === last ? x(step) + edges.right - 2 : x(step), y: edges.high - 7, "text-anchor": anchor };
      svg.append(svgPart("text", at, String(step)));
    }
    for (const share of [0, 0.5, 1]) {
      const value = share * most;
      const says = name === "accuracy" ? `${Math.round(100 * value)}%` : value.toFixed(1);
      svg.append(svgPart("line", { class: "rule", x1: edges.left, x2: WIDE - edges.right, y1: y(value), y2: y(value) }));
      svg.append(svgPart("text", { x: edges.left - 5, y: y(value) + edges.top * 0.4, "text-anchor": "end" }, says));
    }
    const points = history.map((entry) => `${x(entry.step)},${y(entry[name])}`).join(" ");
    svg.append(svgPart("polyline", { class: "recorded", points }));
    const cursor = svgPart("line", { class: "cursor", y1: edges.top, y2: bottom });
    svg.append(cursor);
    for (const frame of frames) {
      const value = frame[name];
      if (value !== null) svg.append(svgPart("circle", { class: "computed", cx: x(frame.step), cy: y(value), r: 4 }));
    }
    this.cursors.push(cursor);
    /** @param {MouseEvent} event */
    const go = (event) => {
      const box = svg.getBoundingClientRect();
      const across = ((event.clientX - box.left) / box.width) * WIDE - edges.left;
      const index = frameAt(frames, across / (WIDE - edges.left - edges.right));
      if (index !== this.frame) this.playback.go(index);
    };
    svg.addEventListener("click", go);
    dragged(svg, go);
    return make("figure", {}, make("h3", { "data-words": "" }, text[name]), svg);
  }

  /**
   * A sentence about the first and the last value of a curve.
   *
   * @param {"loss" | "accuracy"} name
   */
  course(name) {
    const { frames, history, text } = this.data;
    const computed = frames.filter((frame) => frame[name] !== null);
    const course = computed.length > 1 ? computed : history;
    if (!course.length) return text[name];
    const [first, last] = [course[0], course[course.length - 1]];
    /** @param {number | null} value */
    const says = (value) => (name === "accuracy" ? percent(value ?? 0) : (value ?? 0).toFixed(2));
    const values = { from: first.step, first: says(first[name]), to: last.step, last: says(last[name]) };
    return fillIn(text[`${name}_alt`], values);
  }

  paint() {
    const { data, frame } = this;
    const { frames, text, target } = data;
    const shown = frames[frame];
    const last = frames[frames.length - 1].step;
    const { edges } = this;
    this.moves.paint();
    for (const cursor of this.cursors) {
      const x = edges.left + placeOfStep(shown.step, last) * (WIDE - edges.left - edges.right);
      cursor.setAttribute("x1", String(x));
      cursor.setAttribute("x2", String(x));
    }
    this.root.dataset.frame = String(frame);
    this.root.toggleAttribute("data-waits", !isReady(shown));
    if (!isReady(shown)) {
      this.answer.replaceChildren(text.waits);
      this.ask();
      return;
    }
    const mark = shown.right === null ? "" : shown.right ? " ✓" : " ✗";
    const words = make(
      "b",
      { role: "img", class: shown.right === null ? "" : shown.right ? "right" : "wrong" },
      `${shown.answer || "–"}${mark}`,
    );
    const told = shown.right === null ? "" : shown.right ? text.is_right : text.is_wrong;
    words.setAttribute("aria-label", `${shown.answer} ${told}`);
    this.answer.replaceChildren(`${text.answer} `, words, this.stopped(shown), this.measured(shown));
    this.tokens.setAttribute("aria-label", text.tokens);
    this.tokens.replaceChildren(...target.map((token, row) => this.chip(token, row, shown)));
    this.barsTitle.textContent = fillIn(text.bars, { number: this.row + 1, token: tokenText(target[this.row]) });
    const { bars, rest } = shown.rows[this.row];
    this.bars.setAttribute("aria-label", this.barsTitle.textContent);
    this.bars.replaceChildren(
      ...bars.map(([token, share, expected]) => barOf(tokenText(token), share, expected ? "expected" : "")),
      barOf(text.rest, rest, "rest"),
    );
    const levels = levelsOfFrame(this.levels, frames, frame);
    this.grid.update(data.grid, levels, (name, value) => this.sendTrigger(name, value));
    this.painted += 1;
    this.root.dataset.painted = String(this.painted);
  }

  /**
   * A note that an answer without an end was stopped.
   *
   * @param {ReadyFrame} shown
   */
  stopped({ ended, right }) {
    const { text } = this.data;
    return ended ? "" : make("small", {}, right === null ? text.stopped : text.stopped_wrong);
  }

  /** @param {ReadyFrame} shown */
  measured(shown) {
    const { text } = this.data;
    if (shown.loss === null || shown.accuracy === null) return "";
    const values = { loss: shown.loss.toFixed(3), exact: `${(100 * shown.accuracy).toFixed(1)} %` };
    return make("small", {}, fillIn(text.measured, values));
  }

  /**
   * A token of the target; a click shows its distribution.
   *
   * @param {string} token
   * @param {number} row
   * @param {ReadyFrame} shown
   */
  chip(token, row, shown) {
    const [, share] = shown.rows[row].bars.find(([, , expected]) => expected) ?? ["", 0];
    const chip = make("button", { type: "button", class: "chip" }, tokenText(token), make("small", {}, percent(share)));
    chip.setAttribute("aria-pressed", String(row === this.row));
    chip.style.background = `color-mix(in srgb, var(--expected) ${Math.round(60 * share)}%, var(--page))`;
    chip.addEventListener("click", () => {
      this.row = row;
      this.paint();
      this.send("row", row);
    });
    return make("li", {}, chip);
  }

  /** The frame that is shown, as an SVG. The buttons and the step are at its top, not at the page's scroll position. */
  drawn() {
    this.moves.element.style.position = "static";
    try {
      return this.picture();
    } finally {
      this.moves.element.style.position = "";
    }
  }

  picture() {
    const sheet = new Sheet(this.root);
    for (const bar of this.root.querySelectorAll(".fill")) {
      sheet.rect(sheet.place(bar), { fill: getComputedStyle(bar).backgroundColor });
    }
    for (const curve of this.root.querySelectorAll("figure svg")) {
      const [x, y, width, height] = sheet.place(curve);
      const parts = [...curve.children].map((part) => styledCopy(part).outerHTML).join("");
      sheet.raw(
        `<svg x="${x}" y="${y}" width="${width}" height="${height}" viewBox="0 0 ${WIDE} ${this.edges.high}">${parts}</svg>`,
      );
    }
    this.grid.drawOn(sheet);
    for (const mark of this.root.querySelectorAll(".marks i")) {
      const [x, y, width, height] = sheet.place(mark);
      const style = getComputedStyle(mark);
      if (mark.className === "line") sheet.rect([x, y, width, 2], { fill: style.borderTopColor });
      else {
        const circle = { cx: x + width / 2, cy: y + height / 2, r: (width - 2) / 2, fill: "none" };
        sheet.add("circle", { ...circle, stroke: style.borderTopColor, "stroke-width": 2 });
      }
    }
    for (const node of this.answer.childNodes) sheet.write(node);
    for (const words of this.root.querySelectorAll("output, h3, .name, .share")) sheet.write(words);
    for (const part of this.root.querySelectorAll(".chip, .marks span"))
      for (const words of part.childNodes) sheet.write(words);
    return sheet.svg();
  }
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {string} words
 */
function svgPart(tag, attributes, words = "") {
  const part = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, String(value));
  part.textContent = words;
  return part;
}

/**
 * Call a function at each move of a finger or of a mouse with its button down, unless the move scrolls the page.
 *
 * @param {Element} element with `touch-action: pan-y`
 * @param {(event: PointerEvent) => void} move
 */
function dragged(element, move) {
  let [x, y] = [0, 0];
  element.addEventListener("pointerdown", (event) => {
    if (event instanceof PointerEvent) [x, y] = [event.clientX, event.clientY];
  });
  element.addEventListener("pointermove", (event) => {
    if (!(event instanceof PointerEvent) || !event.buttons) return;
    if (Math.abs(event.clientX - x) > Math.abs(event.clientY - y)) move(event);
  });
}

/**
 * A part of an SVG with the style that it has on the page.
 *
 * @param {Element} part
 */
function styledCopy(part) {
  const copy = /** @type {Element} */ (part.cloneNode(true));
  const style = getComputedStyle(part);
  for (const name of ["fill", "stroke", "stroke-width", "font-size"]) copy.setAttribute(name, style.getPropertyValue(name));
  return copy;
}

/**
 * A token with its probability as a bar.
 *
 * @param {string} token
 * @param {number} share
 * @param {string} kind
 */
function barOf(token, share, kind) {
  const fill = make("i", { class: "fill" });
  fill.style.width = `${100 * share}%`;
  const name = make("span", { class: "name", title: token }, token);
  return make(
    "li",
    { class: kind },
    name,
    make("span", { class: "track" }, fill),
    make("span", { class: "share" }, percent(share)),
  );
}
