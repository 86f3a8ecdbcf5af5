// Attention as lines. Tokens are buttons. The lines are strokes on one canvas, so 8 heads of 64 × 64 weights are drawn fast.

import { isLight } from "../ui/colors.js";
import { closest, decodeBase64, make, penOf, range, rootOf, textScale, unchanged, viewOf } from "../ui/component.js";
import { themeColor, whenOpened } from "../ui/compat.js";
import { fillIn, tokenText } from "../ui/format.js";
import { Sheet, answerWithPicture } from "../ui/picture.js";
import { STRENGTHS, highestWeight, linesOf, meanOverHeads, roundedDown, sharesOf, tokenAfterKey } from "./lines_weights.js";

/** @typedef {import("./lines_weights.js").Side} Side */
/** @typedef {import("./lines_weights.js").Chosen} Chosen */
/** @typedef {[Side, number]} Token a side, and a position on that side */

/**
 * @typedef {{
 *   weights: string, shape: import("./lines_weights.js").Shape, queries: string[], keys: string[],
 *   colors: Record<"light" | "dark", string[]>, head: number | null, text: Record<string, string>,
 *   start: { locked: Token[], heads: number[], threshold: number },
 * }} Data
 */

/** @typedef {(name: string, value: unknown) => void} Send */

/** @type {Side[]} */
const SIDES = ["query", "key"];
/** @type {Record<Side, Side>} */
const OTHER = { query: "key", key: "query" };
const HEAD_PAUSE = 350; // ms of waiting, so that a double click on a head is sent to Python once, not three times
const LARGEST_CANVAS = 16000; // px: every browser can draw a canvas of this height

/** @param {import("../ui/component.js").Mount<Data>} mount */
export default function lines({ data, parentElement, setStateValue }) {
  const root = rootOf(parentElement, "lines");
  return viewOf(root, () => new View(root, data)).update(data, setStateValue);
}

class View {
  /** @type {Data} */ data;
  /** @type {Float32Array} */ weights;
  /** @type {Float32Array} */ means; // over the active heads
  /** @type {unknown[]} */ meansFor = []; // the inputs that `means` was computed from
  /** @type {Send} */ setStateValue;
  /** @type {"light" | "dark"} */ scheme = "light";
  /** @type {Token | null} */ pointed = null; // the token under the pointer or the keyboard's focus
  /** @type {string | null} */ resting = null; // the token just clicked: not pointed at until the pointer has left it
  /** @type {HTMLElement | null} */ stop = null; // the token that Tab reaches
  /** @type {string | undefined} */ told; // the state that Python has, as JSON
  /** @type {number | undefined} */ telling;
  row = 32; // px
  frameRequest = 0;
  everLocked = false;

  /**
   * Make the elements that do not depend on the data.
   *
   * @param {HTMLElement} root
   * @param {Data} data
   */
  constructor(root, { start, shape, text }) {
    this.root = root;
    /** @type {Record<Side, Set<number>>} */
    this.locked = { query: new Set(), key: new Set() };
    for (const [side, index] of start.locked) this.locked[side].add(index);
    /** @type {Set<number> | null} */
    this.heads = start.heads.length === shape[0] ? null : new Set(start.heads); // null: all
    this.threshold = start.threshold;
    this.pills = make("div", { class: "pills" });
    this.all = make("button", { type: "button", class: "plain" }, text.all);
    this.none = make("button", { type: "button", class: "plain" }, text.none);
    const caption = make("span", { class: "caption", "aria-hidden": "true" }, text.heads);
    this.legend = make(
      "div",
      { class: "legend", role: "group", "aria-label": text.heads },
      caption,
      this.pills,
      this.all,
      this.none,
    );
    this.slider = make("input", { type: "range", min: 0, max: 1, step: 0.01 });
    this.slider.value = String(this.threshold);
    this.thresholdText = make("span", { class: "value", "aria-hidden": "true" });
    const label = make("label", { class: "threshold" }, make("span", {}, text.threshold), this.slider, this.thresholdText);
    this.clear = make("button", { type: "button", class: "plain clear" }, text.clear);
    this.says = make("p", { class: "says", role: "status", "aria-live": "polite" });
    this.columns = {
      query: make("div", { class: "column query", role: "group", "aria-label": text.queries }),
      key: make("div", { class: "column key", role: "group", "aria-label": text.keys }),
    };
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.between = make("div", { class: "between" }, this.canvas);
    this.frame = make("div", { class: "frame" }, this.columns.query, this.between, this.columns.key);
    this.picture = make("div", { class: "picture", role: "group" }, this.frame);
    const titles = [text.queries, text.keys].map((says) => make("span", {}, says));
    const controls = make("div", { class: "controls" }, label, this.clear);
    this.sheet = make(
      "div",
      { class: "sheet" },
      make("div", { class: "titles", "aria-hidden": "true" }, ...titles),
      this.picture,
    );
    this.root.replaceChildren(this.legend, controls, this.says, this.sheet);
    this.listen();
    answerWithPicture(this.root, () => this.drawn());
    this.observer = new ResizeObserver(() => this.redraw());
  }

  listen() {
    this.pills.addEventListener("click", (event) => {
      const head = indexOf(event);
      if (head === null) return;
      if (event.altKey) this.only(head);
      else this.toggleHead(head);
    });
    this.pills.addEventListener("dblclick", (event) => {
      const head = indexOf(event);
      if (head !== null) this.only(head);
    });
    this.all.addEventListener("click", () => this.setHeads(null));
    this.none.addEventListener("click", () => this.setHeads(new Set()));
    this.slider.addEventListener("input", () => {
      this.threshold = Number(this.slider.value);
      this.paint();
    });
    this.slider.addEventListener("change", () => this.tell(0));
    this.clear.addEventListener("click", () => this.unlock());
    this.root.addEventListener("keydown", (event) => this.key(event));
    for (const side of SIDES) {
      const column = this.columns[side];
      /** @param {Event} event */
      const point = (event) => {
        const index = indexOf(event);
        if (index !== null) this.point([side, index]);
      };
      column.addEventListener("pointerover", (event) => {
        // A touch locks a token. It must not point at the token as well.
        if (event.pointerType !== "touch") point(event);
      });
      column.addEventListener("pointerleave", () => this.point(null));
      column.addEventListener("focusin", (event) => {
        const token = /** @type {HTMLElement} */ (event.target);
        this.tabStop(token);
        if (token.matches(":focus-visible")) point(event);
      });
      column.addEventListener("focusout", () => this.point(null));
      column.addEventListener("click", (event) => {
        const index = indexOf(event);
        if (index !== null) this.toggleLock(side, index);
      });
    }
  }

  /**
   * Draw new data. Returns the cleanup function, which Streamlit may call while the lines are still on the page (component.js).
   *
   * @param {Data} data
   * @param {Send} setStateValue
   */
  update(data, setStateValue) {
    const before = this.data;
    this.data = data;
    this.setStateValue = setStateValue;
    this.scheme = isLight(getComputedStyle(this.root).color) ? "dark" : "light"; // light text means a dark page
    this.root.dataset.scheme = this.scheme;
    if (!unchanged(before, data, "weights")) this.weights = new Float32Array(decodeBase64(data.weights).buffer);
    if (!unchanged(before, data, "queries", "keys")) this.writeTokens();
    if (!unchanged(before, data, "shape")) this.writePills();
    if (before && before.head !== data.head) this.followHead(before.head, data.head);
    this.told ??= JSON.stringify(this.state());
    this.observer.observe(this.between);
    this.paint();
    return () => {
      if (this.root.isConnected) return;
      this.observer.disconnect();
      cancelAnimationFrame(this.frameRequest);
      clearTimeout(this.telling);
    };
  }

  writeTokens() {
    const { data, root } = this;
    const longest = Math.max(data.queries.length, data.keys.length);
    // Few tokens are drawn large, so that they can be read on a projector. Many tokens are drawn small, so that they fit.
    this.row = (longest <= 16 ? 32 : longest <= 32 ? 28 : 24) * textScale();
    root.style.setProperty("--row", `${this.row}px`);
    root.style.setProperty("--size", `${Math.round(this.row * 0.58)}px`);
    /**
     * @param {Side} side
     * @returns {(token: string, index: number) => HTMLElement}
     */
    const tokenOf = (side) => (token, index) => {
      const name = make("bdi", { class: "name", title: token }, tokenText(token));
      const share = make("span", { class: "share" });
      const attributes = { type: "button", class: "token", "data-index": index, tabindex: -1, "aria-pressed": "false" };
      return make("button", attributes, ...(side === "query" ? [share, name] : [name, share]));
    };
    this.columns.query.replaceChildren(...data.queries.map(tokenOf("query")));
    this.columns.key.replaceChildren(...data.keys.map(tokenOf("key")));
    this.tabStop(this.tokens("query")[0]);
    const [heads, queries, keys] = data.shape;
    this.picture.setAttribute("aria-label", fillIn(data.text.picture, { heads, queries, keys }));
    this.pointed = null;
  }

  writePills() {
    const { text, shape } = this.data;
    const pills = range(shape[0]).map((head) => {
      const attributes = { type: "button", class: "pill", "data-index": head, title: text.head_help };
      const pill = make("button", attributes, make("span", { class: "dot" }), String(head + 1));
      pill.setAttribute("aria-label", fillIn(text.head, { head: head + 1 }));
      return pill;
    });
    this.pills.replaceChildren(...pills);
  }

  // --- input

  /** @param {Token | null} pointed */
  point(pointed) {
    if (pointed && String(pointed) === this.resting) return;
    this.resting = null;
    if (String(pointed) === String(this.pointed)) return;
    this.pointed = pointed;
    this.redraw();
  }

  /**
   * @param {Side} side
   * @param {number} index
   */
  toggleLock(side, index) {
    const chosen = this.locked[side];
    if (!chosen.delete(index)) chosen.add(index);
    this.tokens(side)[index].focus({ preventScroll: true });
    this.pointed = null; // show the locked tokens, not the one under the pointer, until the pointer moves to another token
    this.resting = String([side, index]);
    this.paint();
    this.tell(0);
  }

  unlock() {
    if (!this.anyLocked()) return;
    for (const side of SIDES) this.locked[side].clear();
    this.pointed = null;
    this.paint();
    this.tell(0);
  }

  /** @param {number} head */
  toggleHead(head) {
    const heads = new Set(this.active());
    if (!heads.delete(head)) heads.add(head);
    this.setHeads(heads);
  }

  /**
   * Switch on a head that was picked elsewhere on the page. The head picked before is switched off if it was the only one on.
   * Otherwise it stays on.
   *
   * @param {number | null} before
   * @param {number | null} head
   */
  followHead(before, head) {
    const heads = this.active();
    if (head === null || heads.includes(head)) return;
    this.heads = new Set(String(heads) === String(before) ? [head] : [...heads, head]);
    if (String(this.active()) !== String(this.data.start.heads)) this.tell(0);
    else this.told = JSON.stringify(this.state());
  }

  /** @param {number} head */
  only(head) {
    this.setHeads(new Set([head]));
  }

  /** @param {Set<number> | null} heads null: all */
  setHeads(heads) {
    this.heads = heads && heads.size === this.data.shape[0] ? null : heads;
    this.paint();
    this.tell(HEAD_PAUSE);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Escape" && this.anyLocked()) {
      event.stopPropagation();
      this.unlock();
      return;
    }
    const side = SIDES.find((name) => event.target instanceof Node && this.columns[name].contains(event.target));
    const index = indexOf(event);
    if (!side || index === null) return;
    const counts = { query: this.tokens("query").length, key: this.tokens("key").length };
    const token = tokenAfterKey(event.key, side, index, counts);
    if (!token) return;
    event.preventDefault();
    this.tokens(token[0])[token[1]].focus();
  }

  /**
   * Let the Tab key reach this token only. The arrow keys move from it to the other tokens.
   *
   * @param {HTMLElement | undefined} token
   */
  tabStop(token) {
    if (!token) return;
    if (this.stop) this.stop.tabIndex = -1;
    this.stop = token;
    token.tabIndex = 0;
  }

  // --- tokens and heads that are switched on

  /** The heads that are on. */
  active() {
    const all = range(this.data.shape[0]);
    const { heads } = this;
    if (!heads) return all;
    const some = all.filter((head) => heads.has(head));
    // The model may have been changed to one that has none of the chosen heads.
    return some.length || !heads.size ? some : all;
  }

  /** @param {Side} side */
  lockedOf(side) {
    const count = this.data[side === "query" ? "queries" : "keys"].length;
    return [...this.locked[side]].filter((index) => index < count).sort((a, b) => a - b);
  }

  anyLocked() {
    return SIDES.some((side) => this.lockedOf(side).length);
  }

  /** The tokens whose lines are drawn: the one pointed at, or otherwise the locked ones. Null: all tokens. */
  chosen() {
    /** @type {Chosen} */
    const chosen = { query: [], key: [] };
    if (this.pointed) chosen[this.pointed[0]] = [this.pointed[1]];
    else for (const side of SIDES) chosen[side] = this.lockedOf(side);
    return chosen.query.length || chosen.key.length ? chosen : null;
  }

  state() {
    const locked = SIDES.flatMap((side) => this.lockedOf(side).map((index) => [side, index]));
    const heads = this.active();
    return { locked, heads: heads.length < this.data.shape[0] ? heads : null, threshold: this.threshold };
  }

  /**
   * Send the state to Python after a pause without another call.
   *
   * @param {number} pause ms
   */
  tell(pause) {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      const state = this.state();
      const said = JSON.stringify(state);
      if (said === this.told) return;
      this.told = said;
      whenOpened(() => this.setStateValue("view", state));
    }, pause);
  }

  /** Write the line that screen readers also read aloud: which tokens are locked, or what the visitor can do. */
  say() {
    const { text } = this.data;
    const weak = this.tooWeak();
    const tokens = SIDES.flatMap((side) => this.lockedOf(side).map((index) => this.named(side, index)));
    let says = this.everLocked ? `${text.unlocked} ${text.hint}` : text.hint;
    if (tokens.length) says = fillIn(text.locked, { tokens: tokens.join("; ") });
    if (!this.active().length) says = text.no_heads;
    else if (weak) says = tokens.length ? `${says} ${weak}` : weak;
    this.everLocked ||= tokens.length > 0;
    if (this.says.textContent !== says) this.says.textContent = says;
  }

  /** The text for the case that all weights are below the threshold, so no line is drawn; otherwise "". Pointing at a token
   * does not change it. */
  tooWeak() {
    const locked = { query: this.lockedOf("query"), key: this.lockedOf("key") };
    const highest = highestWeight(this.weights, this.data.shape, this.active(), locked);
    if (!highest || highest >= Math.fround(this.threshold)) return "";
    return fillIn(this.data.text.no_lines, { threshold: this.threshold.toFixed(2), most: roundedDown(highest) });
  }

  /**
   * The buttons of a side.
   *
   * @param {Side} side
   */
  tokens(side) {
    return /** @type {HTMLElement[]} */ ([...this.columns[side].children]);
  }

  /**
   * @param {Side} side
   * @param {number} index
   */
  token(side, index) {
    return this.data[side === "query" ? "queries" : "keys"][index];
  }

  /**
   * @param {Side} side
   * @param {number} index
   */
  named(side, index) {
    return fillIn(this.data.text[side], { index, token: this.token(side, index) });
  }

  // --- drawing

  /** Draw everything: controls, tokens, lines. Computes the means over the active heads if they have changed. */
  paint() {
    const { data, threshold } = this;
    const active = this.active();
    const colors = data.colors[this.scheme];
    const pills = /** @type {HTMLElement[]} */ ([...this.pills.children]);
    pills.forEach((pill, head) => {
      pill.style.setProperty("--head", colors[head % colors.length]);
      pill.setAttribute("aria-pressed", String(active.includes(head)));
    });
    this.slider.style.setProperty("--filled", `${100 * threshold}%`);
    this.thresholdText.textContent = threshold.toFixed(2);
    this.clear.disabled = !this.anyLocked();
    this.say();
    const inputs = [this.weights, data, String(active)];
    if (inputs.some((input, index) => input !== this.meansFor[index])) {
      this.means = meanOverHeads(this.weights, data.shape, active);
      this.meansFor = inputs;
      this.describe();
    }
    for (const side of SIDES) {
      this.tokens(side).forEach((token, index) => {
        token.setAttribute("aria-pressed", String(this.locked[side].has(index)));
      });
    }
    this.redraw();
  }

  /** Set the text that a screen reader reads aloud for each token. */
  describe() {
    const { text } = this.data;
    for (const side of SIDES) {
      this.tokens(side).forEach((token, index) => {
        const shares = sharesOf(this.means, this.data.shape, side, [index]);
        const most = shares.indexOf(Math.max(...shares));
        const values = { name: this.named(side, index), token: this.token(OTHER[side], most), share: shares[most]?.toFixed(2) };
        const says = this.active().length && shares[most] > 0 ? fillIn(text[`${side}_most`], values) : values.name;
        token.setAttribute("aria-label", says);
      });
    }
  }

  redraw() {
    cancelAnimationFrame(this.frameRequest);
    this.frameRequest = requestAnimationFrame(() => {
      const chosen = this.chosen();
      this.shade(chosen);
      this.root.dataset.lines = String(this.draw(chosen));
    });
  }

  /**
   * Colour the tokens of each column by their attention from or to the chosen tokens of the other column.
   *
   * @param {Chosen | null} chosen
   */
  shade(chosen) {
    const { text } = this.data;
    const heads = this.active().length;
    for (const side of SIDES) {
      const from = chosen?.[OTHER[side]] ?? [];
      const shares = from.length && heads ? sharesOf(this.means, this.data.shape, OTHER[side], from) : null;
      const most = shares ? Math.max(...shares) : 0;
      // The weights of each query sum to 1, so a sum over queries is at most the number of queries.
      const whole = OTHER[side] === "query" ? Math.max(1, from.length) : 1;
      this.tokens(side).forEach((token, index) => {
        const share = shares ? shares[index] : 0;
        const masked = share < 0;
        token.classList.toggle("shaded", Boolean(shares));
        token.classList.toggle("chosen", Boolean(chosen?.[side].includes(index)));
        token.classList.toggle("faint", Boolean(chosen && !chosen[side].includes(index) && !shares));
        token.classList.toggle("masked", masked);
        token.classList.toggle("most", share > 0 && share === most);
        token.classList.toggle("little", Boolean(shares) && share < 0.05);
        token.style.setProperty("--share", share > 0 ? Math.min(1, share / whole).toFixed(4) : "0");
        const number = /** @type {Element} */ (token.querySelector(".share"));
        number.textContent = shares && !masked ? share.toFixed(2) : "";
        if (masked) token.title = text.masked;
        else token.removeAttribute("title");
      });
    }
  }

  /**
   * Stroke the lines of the chosen tokens; returns the number of lines.
   *
   * @param {Chosen | null} chosen
   */
  draw(chosen) {
    const [, queries, keys] = this.data.shape;
    const width = this.between.clientWidth;
    const height = this.row * Math.max(queries, keys);
    const ratio = Math.min(devicePixelRatio || 1, LARGEST_CANVAS / height);
    const { canvas } = this;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    const context = penOf(canvas);
    context.scale(ratio, ratio);
    const { count, strokes } = this.strokes(chosen);
    for (const { path, color, alpha, wide } of strokes) {
      context.globalAlpha = alpha;
      context.lineWidth = wide;
      context.strokeStyle = color;
      context.stroke(new Path2D(path));
    }
    return count;
  }

  /**
   * The number of lines, and the lines as paths in SVG's notation: one for each head and strength. The strongest come last, so
   * they are on top.
   *
   * @param {Chosen | null} chosen
   */
  strokes(chosen) {
    const { row } = this;
    const width = this.between.clientWidth;
    const heads = this.active();
    const colors = this.data.colors[this.scheme];
    // Each head has its own lane within a row, so that heads with the same weights do not hide each other.
    const pitch = Math.min(5, (0.8 * row) / heads.length);
    const widest = heads.length === 1 ? 6 : Math.max(2, 0.95 * pitch);
    const faintest = chosen ? 0.25 : 0.1;
    /** @type {string[][]} */
    const paths = range(STRENGTHS).map(() => []); // strength → head → path
    let count = 0;
    heads.forEach((head, lane) => {
      const shift = (lane - (heads.length - 1) / 2) * pitch + row / 2;
      for (const [query, key, strength] of linesOf(this.weights, this.data.shape, head, this.threshold, chosen)) {
        const [from, to] = [query, key].map((place) => (place * row + shift).toFixed(1));
        const line = `M0 ${from}C${0.4 * width} ${from} ${0.6 * width} ${to} ${width} ${to}`;
        paths[strength][head] = (paths[strength][head] ?? "") + line;
        count++;
      }
    });
    const strokes = paths.flatMap((byHead, strength) => {
      const weight = (strength + 0.5) / STRENGTHS;
      const [alpha, wide] = [faintest + (1 - faintest) * weight, 0.6 + (widest - 0.6) * weight];
      return byHead.map((path, head) => ({ path, color: colors[head % colors.length], alpha, wide }));
    });
    return { count, strokes };
  }

  /** The whole picture as an SVG: the heads that are on, the columns, the lines. */
  drawn() {
    const above = 36;
    const sheet = new Sheet(this.sheet, above);
    const heads = this.active();
    const colors = this.data.colors[this.scheme];
    const pitch = Math.min(56, sheet.box.width / (heads.length + 1.5));
    sheet.text(32, 10 - above, this.data.text.heads);
    heads.forEach((head, index) => {
      const x = 1.5 * pitch + index * pitch;
      sheet.add("circle", { cx: x, cy: 10 - above, r: 6, fill: colors[head % colors.length] });
      sheet.text(x + 16, 10 - above, String(head + 1));
    });
    for (const title of this.sheet.querySelectorAll(".titles span")) sheet.write(title);
    for (const side of SIDES) {
      for (const token of this.tokens(side)) {
        const [x, y, width, height] = sheet.place(token);
        const long = width * Number(token.style.getPropertyValue("--share") || 0);
        const bar = { fill: themeColor(this.root, "primary-color"), "fill-opacity": 0.42 };
        if (long) sheet.rect([side === "query" ? x + width - long : x, y, long, height], bar);
        for (const words of token.children) sheet.write(words);
      }
    }
    const [x, y, width, height] = sheet.place(this.canvas);
    sheet.raw(`<svg x="${x}" y="${y}" width="${width}" height="${height}">`);
    for (const { path, color, alpha, wide } of this.strokes(this.chosen()).strokes) {
      sheet.add("path", { d: path, fill: "none", stroke: color, "stroke-opacity": alpha, "stroke-width": wide });
    }
    sheet.raw("</svg>");
    return sheet.svg();
  }
}

/**
 * The position of the token, or the number of the head, whose button an event comes from. Null: it comes from neither.
 *
 * @param {Event} event
 */
function indexOf(event) {
  const index = closest(event, "[data-index]")?.dataset.index;
  return index === undefined ? null : Number(index);
}
