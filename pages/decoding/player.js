// An answer that is written one token at a time. All steps come with the data, so the player moves between them without a
// request. When the player stops, it sends two things to the server for the other parts of the page: the step, and the parts
// that are below the screen.

import { barOf, chipOf, drawBars } from "../ui/bars.js";
import { TOP_LEVEL, cssColor, isLight, pixelsOfScale } from "../ui/colors.js";
import { make, penOf, rootOf, textScale, unchanged, viewOf } from "../ui/component.js";
import { fillIn, percent, tokenText } from "../ui/format.js";
import { paintLevels } from "../ui/paint.js";
import { Sheet, answerWithPicture } from "../ui/picture.js";
import { Playback } from "../ui/playback.js";
import { PlaybackRow } from "../ui/playback_row.js";
import { saidRows } from "../ui/strongest.js";

const PACE = 1100; // ms between two steps of the player
// The size in px of a cell of the alignment, and of a digit in it, on an ordinary page. While the page is presented, a digit
// has 18 px.
const [CELL, DIGIT] = [22, 11.52];
const AHEAD = 100; // px below the screen that count as near it
const ROWS_SAID = 3; // rows of the alignment that its description for screen readers contains

/** A share from 0 to 1, and its value `own` before the logits processors. @typedef {{ share: number, own: number }} Shares */

/**
 * One step, as answer_steps.py sends it. `cross` has levels from 0 to `TOP_LEVEL`.
 *
 * @typedef {{
 *   read: string[], token: string, ended: boolean, why: string,
 *   bars: (Shares & { token: string, chosen: boolean })[], rest: Shares | null,
 *   self: number[], cross: number[],
 * }} Step
 */

/** The steps as JSON. @typedef {{ steps: string, step: number, parts: string[], source: string[], given: number, scale: string, text: Record<string, string> }} Data */

/** @param {import("../ui/component.js").Mount<Data>} mount */
export default function player({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = rootOf(parentElement, "player");
  const view = viewOf(root, () => new Player(root));
  view.tell = (step) => setStateValue("step", [step, ...data.parts.filter(isBelow)]);
  view.force = (place) => setTriggerValue("force", place);
  view.show(data);
  return () => root.isConnected || view.playback.halt();
}

/**
 * Whether the heading with an anchor is below the screen by more than `AHEAD`.
 *
 * @param {string} anchor
 */
function isBelow(anchor) {
  return (document.getElementById(anchor)?.getBoundingClientRect().top ?? 0) > innerHeight + AHEAD;
}

class Player {
  /** @type {Data} */ data;
  /** @type {Step[]} */ steps = [];
  /** @type {import("../ui/colors.js").Pixels} */ pixels;
  /** @type {PlaybackRow} */ row;
  /** @type {HTMLElement} */ why;
  /** @type {HTMLElement} */ read;
  /** @type {HTMLElement} */ bars;
  /** @type {HTMLElement} */ grid;
  /** @type {HTMLElement} */ rows;
  /** @type {HTMLCanvasElement} */ canvas;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.playback = new Playback(
      PACE,
      () => this.paint(),
      (index) => this.tell(index + 1),
    );
    this.tell = (/** @type {number} */ _) => {};
    this.force = (/** @type {[number, string]} */ _) => {};
    answerWithPicture(root, () => this.drawn());
    root.addEventListener("keydown", (event) => this.row.key(event));
  }

  /** @param {Data} data */
  show(data) {
    const moved = !this.data || this.data.step !== data.step || !unchanged(this.data, data, "steps");
    const whole = !unchanged(this.data, data, "source", "given", "text", "scale");
    if (this.data?.steps !== data.steps) this.steps = JSON.parse(data.steps);
    this.data = data;
    this.playback.take(this.steps.length, data.step, moved);
    if (whole) this.build();
    this.paint();
  }

  build() {
    const { text, scale, source } = this.data;
    this.pixels = pixelsOfScale(scale);
    this.row = new PlaybackRow(this.playback, text, () => fillIn(text.place, this.places()));
    this.why = make("p", { class: "why", "aria-live": "polite" });
    this.read = make("ol", { class: "read chips", "aria-label": text.read });
    this.bars = make("ol", { class: "bars", "aria-label": text.bars });
    this.grid = make("div", { class: "grid" });
    const labels = source.map((token) => make("span", {}, tokenText(token)));
    const columns = make("div", { class: "columns" }, ...labels);
    columns.style.gridTemplateColumns = `repeat(${source.length}, var(--cell))`;
    this.canvas = make("canvas", { role: "img" });
    this.rows = make("div", { class: "rows" });
    this.grid.append(make("span", {}), columns, this.rows, this.canvas);
    this.root.replaceChildren(
      this.row.element,
      this.why,
      make(
        "div",
        { class: "parts" },
        make("section", { class: "next" }, make("h2", {}, text.bars), this.bars),
        make("section", {}, make("h2", {}, text.read), this.read, make("small", {}, text.read_note)),
        make(
          "section",
          { class: "aligned", tabindex: 0, role: "group", "aria-label": text.alignment },
          make("h2", {}, text.alignment),
          this.grid,
        ),
      ),
    );
  }

  /** The step that is shown, counted from 0. */
  get step() {
    return this.playback.index;
  }

  places() {
    return { step: this.step + 1, count: this.steps.length };
  }

  paint() {
    const { text, source } = this.data;
    const step = this.steps[this.step];
    this.row.paint();
    this.why.textContent = step.why;
    const chips = step.read.map((token, index) => this.chip(token, step.self[index], index));
    const newest = make("span", { class: "chip newest" }, tokenText(step.token));
    this.replaceItems(this.read, ...chips, make("li", {}, newest));
    const bars = step.bars.map((bar) => this.bar(bar));
    this.replaceItems(this.bars, ...bars, ...(step.rest ? [this.line(text.rest, step.rest, "rest")] : []));
    const steps = this.steps.slice(0, this.step + 1);
    const levels = Uint8Array.from(steps.flatMap(({ cross }) => cross)); // a row for each step
    this.paintAlignment(levels, source.length);
    const rows = saidRows(text, { queries: steps.map(({ token }) => token), keys: source }, levels, 0, ROWS_SAID);
    const says = { ...this.places(), token: step.token, rows };
    this.canvas.setAttribute("aria-label", fillIn(text.alignment_says, says));
    this.root.dataset.step = String(this.step + 1);
  }

  /**
   * Replace the items of a list. The keyboard's focus stays at its place in the list, or moves to the slider if that place has
   * no button any more.
   *
   * @param {HTMLElement} list
   * @param {...HTMLElement} items
   */
  replaceItems(list, ...items) {
    const place = Array.from(list.children).findIndex((item) => item.matches(":focus-within"));
    list.replaceChildren(...items);
    if (place < 0) return;
    const button = items[place]?.querySelector("button:enabled") ?? this.row.slider;
    /** @type {HTMLElement} */ (button).focus({ preventScroll: true });
  }

  /**
   * A token that was read, shaded by the attention to it in this step. A click goes to the step that wrote the token.
   *
   * @param {string} token
   * @param {number} weight
   * @param {number} index
   */
  chip(token, weight, index) {
    const { given } = this.data;
    const chip = chipOf(token, weight, "var(--self)", 70, () => this.playback.go(index - given));
    chip.disabled = index < given;
    return make("li", {}, chip);
  }

  /** @param {Step["bars"][number]} bar */
  bar(bar) {
    const { text } = this.data;
    const name = make("button", { type: "button" }, tokenText(bar.token));
    const says = fillIn(bar.chosen ? text.chosen : text.force, { token: bar.token, share: percent(bar.share) });
    name.setAttribute("aria-label", says);
    name.title = says;
    name.addEventListener("click", () => this.force([this.step + 1, bar.token]));
    return this.line(name, bar, bar.chosen ? "chosen" : "");
  }

  /**
   * A line of the list of bars. Behind the bar is one for the probability before the logits processors.
   *
   * @param {HTMLElement | string} name
   * @param {Shares} shares
   * @param {string} kind
   */
  line(name, { share, own }, kind) {
    const { text } = this.data;
    const isCut = own > 0 && share === 0; // by the logits processors
    return barOf(name, share, isCut ? { kind: `${kind} cut`, own, words: text.cut_off } : { kind, own });
  }

  /**
   * @param {Uint8Array} levels
   * @param {number} columns
   */
  paintAlignment(levels, columns) {
    const { steps } = this;
    const [scale, count] = [textScale(), this.step + 1];
    const size = CELL * scale;
    this.grid.style.setProperty("--cell", `${size}px`);
    const ratio = devicePixelRatio || 1;
    const names = steps.slice(0, count).map(({ token }, index) => {
      return make("span", index === this.step ? { class: "now" } : {}, tokenText(token));
    });
    this.rows.replaceChildren(...names);
    const [width, height] = [Math.round(columns * size * ratio), Math.round(count * size * ratio)];
    Object.assign(this.canvas, { width, height });
    Object.assign(this.canvas.style, { width: `${columns * size}px`, height: `${count * size}px` });
    const context = penOf(this.canvas);
    const cells = make("canvas", {});
    paintLevels(cells, levels, columns, count, this.pixels);
    context.imageSmoothingEnabled = false;
    context.drawImage(cells, 0, 0, width, height);
    context.font = `${Math.round(DIGIT * scale * ratio)}px sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let column = 0; column < columns; column++) {
      const level = levels[this.step * columns + column];
      context.fillStyle = isLight(cssColor(this.pixels, level)) ? "black" : "white";
      const words = String(Math.round((100 * level) / TOP_LEVEL));
      context.fillText(words, (column + 0.5) * size * ratio, (this.step + 0.5) * size * ratio);
    }
    context.strokeStyle = getComputedStyle(this.root).color;
    context.lineWidth = 2 * ratio;
    context.strokeRect(ratio, (this.step * size + 1) * ratio, width - 2 * ratio, (size - 2) * ratio);
  }

  /** The step that is shown, as an SVG. */
  drawn() {
    const sheet = new Sheet(this.root);
    drawBars(sheet, this.root, "h2, .why, output, .columns span, .rows span");
    sheet.image(this.canvas);
    return sheet.svg();
  }
}
