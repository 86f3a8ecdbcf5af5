// The frames of a training on one slider: the answer, a distribution, and every head's map. At first the data contain
// only one frame. As soon as the pointer, the focus or a press reaches the film, it asks the server for the others. After that,
// moving between frames needs no request. When the slider stops, the film sends the frame to the server.

import { barOf, chipOf, drawBars } from "../ui/bars.js";
import { unpack } from "../ui/chart/unpack.js";
import { elementWithKey, themeColor } from "../ui/compat.js";
import { clamp, make, rootOf, unchanged, viewOf } from "../ui/component.js";
import { fillIn, tokenText } from "../ui/format.js";
import { HeadGrid } from "../ui/head_grid_view.js";
import { Sheet, answerWithPicture } from "../ui/picture.js";
import { Playback } from "../ui/playback.js";
import { PlaybackRow } from "../ui/playback_row.js";
import { isReady, levelsOfFrame } from "./film_frames.js";

const PACE = 900; // ms between two frames

/** @typedef {import("./film_frames.js").Frame} Frame */
/** @typedef {import("./film_frames.js").ReadyFrame} ReadyFrame */

/**
 * @typedef {{
 *   film: string, frames: Frame[], curves: string, target: string[], frame: number, row: number, grid: any,
 *   text: Record<string, string>,
 * }} FilmData
 */

/** @param {import("../ui/component.js").Mount<Uint8Array>} mount */
export default function film({ data: parcel, parentElement, setStateValue, setTriggerValue }) {
  const [data, levels] = unpack(parcel);
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
      // Not a state: after a click in the curves, the film may go back to the frame that it sent last.
      (index) => this.sendTrigger("frame", index),
    );
    this.hint = make("p", { class: "hint" });
    this.answer = make("p", { class: "answer", "aria-live": "polite" });
    this.tokens = make("ol", { class: "tokens chips" });
    this.bars = make("ol", { class: "bars" });
    this.barsTitle = make("h3", {});
    this.gridRoot = make("div", { class: "head_grid" });
    this.grid = new HeadGrid(this.gridRoot, gridText, false);
    answerWithPicture(root, () => this.drawn());
    for (const sign of ["pointerenter", "focusin", "pointerdown"]) root.addEventListener(sign, () => this.ask());
    const mark = () => {
      if (!root.isConnected) document.removeEventListener("chart", mark);
      else if (this.data) this.markCurves();
    };
    document.addEventListener("chart", mark);
    root.addEventListener("keydown", (event) => {
      // In the grid of heads, the arrow keys move from head to head.
      if (event.target !== this.grid.picture) this.moves.key(event);
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
    const built = unchanged(before, data, "film", "text");
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

  /** The frame that is shown, counted from 0. */
  get frame() {
    return this.playback.index;
  }

  build() {
    const { frames, text } = this.data;
    const all = frames.map(({ step }) => step.toLocaleString("en"));
    this.moves = new PlaybackRow(this.playback, text, () => fillIn(text.place, { step: all[this.frame], steps: all.at(-1) }));
    const reading = make("section", {}, this.answer, this.barsTitle, this.tokens, this.bars);
    this.hint.textContent = text.hint;
    this.root.replaceChildren(this.hint, this.moves.element, reading, this.gridRoot);
  }

  /** Mark the step of the frame in the chart of the curves. */
  markCurves() {
    const { curves, frames } = this.data;
    const x = frames[this.frame].place;
    const line = { color: themeColor(this.root, "primary-color"), width: 2 };
    const upright = { type: "line", x0: x, x1: x, y0: 0, y1: 1, line };
    const marks = ["", "2"].map((axis) => ({ ...upright, xref: `x${axis}`, yref: `y${axis} domain` }));
    const mark = new CustomEvent("mark", { detail: marks });
    elementWithKey(curves)?.querySelector(".chart")?.dispatchEvent(mark);
  }

  paint() {
    const { data, frame } = this;
    const { frames, text, target } = data;
    const shown = frames[frame];
    this.moves.paint();
    this.markCurves();
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
    this.answer.replaceChildren(`${shown.says} `, words, this.stopped(shown), this.measured(shown));
    this.tokens.setAttribute("aria-label", text.tokens);
    this.tokens.replaceChildren(...target.map((token, row) => this.chip(token, row, shown)));
    this.barsTitle.textContent = fillIn(text.bars, { number: this.row + 1, token: tokenText(target[this.row]) });
    const { bars, rest } = shown.rows[this.row];
    this.bars.setAttribute("aria-label", this.barsTitle.textContent);
    this.bars.replaceChildren(
      ...bars.map(([token, share, expected]) => barOf(tokenText(token), share, { kind: expected ? "expected" : "" })),
      barOf(text.rest, rest, { kind: "rest" }),
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
    const values = { loss: shown.loss.toFixed(3), exact: `${(100 * shown.accuracy).toFixed(1)}%` };
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
    const chip = chipOf(token, share, "var(--expected)", 60, () => {
      this.row = row;
      this.paint();
      this.send("row", row);
    });
    chip.setAttribute("aria-pressed", String(row === this.row));
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
    drawBars(sheet, this.root, "output, h3");
    this.grid.drawOn(sheet);
    for (const node of this.answer.childNodes) sheet.write(node);
    return sheet.svg();
  }
}
