// Attention as lines. Tokens are buttons; the lines are strokes on one canvas, so 8 heads of 64 × 64 stay quick.

import { decodeBase64, fillIn, make, range, tokenText, unchanged, viewOf } from "../ui/component.js";
import { Sheet, answerWithPicture } from "../ui/picture.js";

const SIDES = ["query", "key"];
const OTHER = { query: "key", key: "query" };
const STRENGTHS = 16; // steps of opacity and width: lines of one step and head are one path
const HEAD_PAUSE = 350; // ms: a double click on a head is told once, not three times
const LARGEST_CANVAS = 16000; // px a browser surely draws

export default function lines({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".lines");
  return viewOf(root, () => new View(root, data)).update(data, setStateValue);
}

class View {
  constructor(root, data) {
    this.root = root;
    this.calls = 0;
    this.locked = { query: new Set(), key: new Set() };
    for (const [side, index] of data.start.locked) this.locked[side].add(index);
    this.heads = data.start.heads.length === data.shape[0] ? null : new Set(data.start.heads); // null: all
    this.threshold = data.start.threshold;
    this.pointed = null; // the token under the pointer or the keyboard's focus: [side, index]
    this.resting = null; // the token just clicked: not pointed at again before the pointer has left it
    this.build(data.text);
    this.observer = new ResizeObserver(() => this.redraw());
  }

  // The parts that stay whatever the data are.
  build(text) {
    this.pills = make("div", { class: "pills" });
    this.all = make("button", { type: "button", class: "plain" }, text.all);
    this.none = make("button", { type: "button", class: "plain" }, text.none);
    const caption = make("span", { class: "caption", "aria-hidden": "true" }, text.heads);
    this.legend = make("div", { class: "legend", role: "group", "aria-label": text.heads }, caption, this.pills, this.all, this.none);
    this.slider = make("input", { type: "range", min: 0, max: 1, step: 0.01 });
    this.slider.value = this.threshold;
    this.shown = make("span", { class: "value", "aria-hidden": "true" });
    const label = make("label", { class: "threshold" }, make("span", {}, text.threshold), this.slider, this.shown);
    this.clear = make("button", { type: "button", class: "plain clear" }, text.clear);
    this.says = make("p", { class: "says", role: "status", "aria-live": "polite" });
    this.columns = {};
    for (const side of SIDES) this.columns[side] = make("div", { class: `column ${side}`, role: "group" });
    this.columns.query.setAttribute("aria-label", text.queries);
    this.columns.key.setAttribute("aria-label", text.keys);
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.between = make("div", { class: "between" }, this.canvas);
    this.frame = make("div", { class: "frame" }, this.columns.query, this.between, this.columns.key);
    this.picture = make("div", { class: "picture", role: "group" }, this.frame);
    const titles = make(
      "div",
      { class: "titles", "aria-hidden": "true" },
      make("span", {}, text.queries),
      make("span", {}, text.keys),
    );
    const controls = make("div", { class: "controls" }, label, this.clear);
    this.sheet = make("div", { class: "sheet" }, titles, this.picture);
    this.root.replaceChildren(this.legend, controls, this.says, this.sheet);
    this.listen();
    answerWithPicture(this.root, () => this.drawn());
  }

  listen() {
    this.pills.addEventListener("click", (event) => {
      const head = indexOf(event.target);
      if (head === null) return;
      if (event.altKey) this.only(head);
      else this.toggleHead(head);
    });
    this.pills.addEventListener("dblclick", (event) => {
      const head = indexOf(event.target);
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
      const point = (event) => {
        const index = indexOf(event.target);
        if (index !== null) this.point([side, index]);
      };
      // A finger does not hover: it locks.
      column.addEventListener("pointerover", (event) => event.pointerType !== "touch" && point(event));
      column.addEventListener("pointerleave", () => this.point(null));
      column.addEventListener("focusin", (event) => {
        this.tabStop(event.target);
        if (event.target.matches(":focus-visible")) point(event);
      });
      column.addEventListener("focusout", () => this.point(null));
      column.addEventListener("click", (event) => {
        const index = indexOf(event.target);
        if (index !== null) this.toggleLock(side, index);
      });
    }
  }

  // Take new data; the cleanup undoes this call only, as a late one may come after the next call.
  update(data, setStateValue) {
    const call = ++this.calls;
    const before = this.data;
    this.data = data;
    this.setStateValue = setStateValue;
    this.scheme = isLight(getComputedStyle(this.root).color) ? "dark" : "light"; // light text: a dark page
    this.root.dataset.scheme = this.scheme;
    if (!unchanged(before, data, "weights")) this.weights = new Float32Array(decodeBase64(data.weights).buffer);
    if (!unchanged(before, data, "queries", "keys")) this.writeTokens();
    if (!unchanged(before, data, "shape")) this.writePills();
    if (before && before.head !== data.head) this.followHead(before.head, data.head);
    this.told ??= JSON.stringify(this.state());
    this.observer.observe(this.between);
    this.paint();
    return () => {
      if (call !== this.calls) return;
      this.observer.disconnect();
      cancelAnimationFrame(this.frameAsked);
      clearTimeout(this.telling);
    };
  }

  writeTokens() {
    const { data, root } = this;
    const longest = Math.max(data.queries.length, data.keys.length);
    // Few tokens can be read from the back of a room; many have to fit.
    this.row = longest <= 16 ? 32 : longest <= 32 ? 28 : 24;
    root.style.setProperty("--row", `${this.row}px`);
    root.style.setProperty("--size", `${Math.round(this.row * 0.58)}px`);
    const tokenOf = (side) => (token, index) => {
      const name = make("bdi", { class: "name", title: token }, tokenText(token));
      const share = make("span", { class: "share" });
      const attributes = { type: "button", class: "token", "data-index": index, tabindex: -1, "aria-pressed": "false" };
      return make("button", attributes, ...(side === "query" ? [share, name] : [name, share]));
    };
    this.columns.query.replaceChildren(...data.queries.map(tokenOf("query")));
    this.columns.key.replaceChildren(...data.keys.map(tokenOf("key")));
    this.tabStop(this.columns.query.firstChild);
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

  // --- what a person does

  point(pointed) {
    if (pointed && String(pointed) === this.resting) return;
    this.resting = null;
    if (String(pointed) === String(this.pointed)) return;
    this.pointed = pointed;
    this.redraw();
  }

  toggleLock(side, index) {
    const chosen = this.locked[side];
    if (!chosen.delete(index)) chosen.add(index);
    this.columns[side].children[index].focus({ preventScroll: true });
    this.pointed = null; // show what is locked, not what is pointed at, until the pointer moves on
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

  toggleHead(head) {
    const heads = new Set(this.active());
    if (!heads.delete(head)) heads.add(head);
    this.setHeads(heads);
  }

  // Another head was picked elsewhere: it goes on; the one before goes off if it was alone, or else they are compared.
  followHead(before, head) {
    const heads = this.active();
    if (head === null || heads.includes(head)) return;
    this.heads = new Set(String(heads) === String(before) ? [head] : [...heads, head]);
    if (String(this.active()) !== String(this.data.start.heads)) this.tell(0);
    else this.told = JSON.stringify(this.state());
  }

  only(head) {
    this.setHeads(new Set([head]));
  }

  setHeads(heads) {
    this.heads = heads && heads.size === this.data.shape[0] ? null : heads;
    this.paint();
    this.tell(HEAD_PAUSE);
  }

  key(event) {
    if (event.key === "Escape" && this.anyLocked()) {
      event.stopPropagation();
      this.unlock();
      return;
    }
    const column = SIDES.find((side) => this.columns[side].contains(event.target));
    const index = indexOf(event.target);
    if (!column || index === null) return;
    const last = (side) => this.columns[side].children.length - 1;
    const [side, at] = {
      ArrowUp: [column, index - 1],
      ArrowDown: [column, index + 1],
      Home: [column, 0],
      End: [column, last(column)],
      ArrowLeft: ["query", index],
      ArrowRight: ["key", index],
    }[event.key] ?? [null, 0];
    if (!side) return;
    event.preventDefault();
    this.columns[side].children[Math.max(0, Math.min(at, last(side)))].focus();
  }

  // One token is reached by Tab; the arrow keys reach the others from there.
  tabStop(token) {
    if (!token) return;
    if (this.stop) this.stop.tabIndex = -1;
    this.stop = token;
    token.tabIndex = 0;
  }

  // --- what is on

  active() {
    const all = range(this.data.shape[0]);
    const some = this.heads ? all.filter((head) => this.heads.has(head)) : all;
    // Another model may have none of the heads that were chosen.
    return some.length || !this.heads?.size ? some : all;
  }

  lockedOf(side) {
    const count = this.data[side === "query" ? "queries" : "keys"].length;
    return [...this.locked[side]].filter((index) => index < count).sort((a, b) => a - b);
  }

  anyLocked() {
    return SIDES.some((side) => this.lockedOf(side).length);
  }

  // Which tokens are looked at now: the one pointed at, or else the locked ones. Null: all.
  chosen() {
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

  // Tell Python, once a person has stopped clicking.
  tell(pause) {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      const state = this.state();
      const said = JSON.stringify(state);
      if (said === this.told) return;
      this.told = said;
      this.setStateValue("view", state);
    }, pause);
  }

  // A line for everyone, and read out: what is locked, or what can be done.
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

  // What to say where there are weights, but none for a line; pointing does not change it.
  tooWeak() {
    const [heads, queries, keys] = [this.active(), ...this.data.shape.slice(1)];
    const [query, key] = SIDES.map((side) => new Set(this.lockedOf(side)));
    const every = !query.size && !key.size;
    let most = 0;
    for (const head of heads) {
      for (let pair = 0; pair < queries * keys; pair++) {
        if (!every && !query.has(Math.floor(pair / keys)) && !key.has(pair % keys)) continue;
        most = Math.max(most, this.weights[head * queries * keys + pair]);
      }
    }
    if (!most || most >= Math.fround(this.threshold)) return "";
    const below = (Math.floor(100 * most) / 100).toFixed(2); // 0.998 is told as 0.99: with the slider there, it has a line
    return fillIn(this.data.text.no_lines, { threshold: this.threshold.toFixed(2), most: below });
  }

  token(side, index) {
    return this.data[side === "query" ? "queries" : "keys"][index];
  }

  named(side, index) {
    return fillIn(this.data.text[side], { index, token: this.token(side, index) });
  }

  // --- drawing

  // Everything: controls, the means over the active heads, tokens, lines.
  paint() {
    const { data, threshold } = this;
    const active = this.active();
    const colors = data.colors[this.scheme];
    [...this.pills.children].forEach((pill, head) => {
      pill.style.setProperty("--head", colors[head % colors.length]);
      pill.setAttribute("aria-pressed", String(active.includes(head)));
    });
    this.slider.style.setProperty("--filled", `${100 * threshold}%`);
    this.shown.textContent = threshold.toFixed(2);
    this.clear.disabled = !this.anyLocked();
    this.say();
    const of = [this.weights, data, String(active)];
    if (of.some((part, index) => part !== this.meansOf?.[index])) {
      this.means = mean(this.weights, data.shape, active);
      this.meansOf = of;
      this.describe();
    }
    for (const side of SIDES) {
      [...this.columns[side].children].forEach((token, index) => {
        token.setAttribute("aria-pressed", String(this.locked[side].has(index)));
      });
    }
    this.redraw();
  }

  // What a screen reader says of each token.
  describe() {
    const { text } = this.data;
    for (const side of SIDES) {
      [...this.columns[side].children].forEach((token, index) => {
        const shares = this.shares(side, [index]);
        const most = shares.indexOf(Math.max(...shares));
        const values = { name: this.named(side, index), token: this.token(OTHER[side], most), share: shares[most]?.toFixed(2) };
        const says = this.active().length && shares[most] > 0 ? fillIn(text[`${side}_most`], values) : values.name;
        token.setAttribute("aria-label", says);
      });
    }
  }

  // For each token of the other column: what the chosen ones of this column give it, or it gives them; −1 where no pair of
  // them may attend.
  shares(side, chosen) {
    const [, queries, keys] = this.data.shape;
    const at = side === "query" ? (mine, other) => mine * keys + other : (mine, other) => other * keys + mine;
    return range(side === "query" ? keys : queries).map((other) => {
      const values = chosen.map((mine) => this.means[at(mine, other)]).filter((value) => value >= 0);
      return values.length ? values.reduce((sum, value) => sum + value, 0) : -1;
    });
  }

  redraw() {
    cancelAnimationFrame(this.frameAsked);
    this.frameAsked = requestAnimationFrame(() => {
      const chosen = this.chosen();
      this.shade(chosen);
      this.root.dataset.lines = this.draw(chosen);
    });
  }

  // Colour the tokens of one column by what the chosen ones of the other have to do with them.
  shade(chosen) {
    const { text } = this.data;
    const heads = this.active().length;
    for (const side of SIDES) {
      const from = chosen?.[OTHER[side]] ?? [];
      const shares = from.length && heads ? this.shares(OTHER[side], from) : null;
      const most = shares ? Math.max(...shares) : 0;
      // Every query gives 1 in all, so a sum over queries goes up to their number.
      const whole = OTHER[side] === "query" ? Math.max(1, from.length) : 1;
      [...this.columns[side].children].forEach((token, index) => {
        const share = shares?.[index];
        const masked = share < 0;
        token.classList.toggle("shaded", Boolean(shares));
        token.classList.toggle("chosen", Boolean(chosen?.[side].includes(index)));
        token.classList.toggle("faint", Boolean(chosen && !chosen[side].includes(index) && !shares));
        token.classList.toggle("masked", masked);
        token.classList.toggle("most", share > 0 && share === most);
        token.classList.toggle("little", share < 0.05);
        token.style.setProperty("--share", share > 0 ? Math.min(1, share / whole).toFixed(4) : 0);
        const number = token.querySelector(".share");
        number.textContent = shares && !masked ? share.toFixed(2) : "";
        if (masked) token.title = text.masked;
        else token.removeAttribute("title");
      });
    }
  }

  // Stroke every line that is wanted; returns how many.
  draw(chosen) {
    const [, queries, keys] = this.data.shape;
    const width = this.between.clientWidth;
    const height = this.row * Math.max(queries, keys);
    const ratio = Math.min(devicePixelRatio || 1, LARGEST_CANVAS / height);
    const { canvas } = this;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    return this.strokes(chosen, Path2D, ({ path, color, alpha, wide }) => {
      context.globalAlpha = alpha;
      context.lineWidth = wide;
      context.strokeStyle = color;
      context.stroke(path);
    });
  }

  // Give each path that is wanted to `stroke`, the strongest last, on top; returns how many lines are in them.
  strokes(chosen, Path, stroke) {
    const [, queries, keys] = this.data.shape;
    const { weights, row } = this;
    const width = this.between.clientWidth;
    const threshold = Math.fround(this.threshold); // as exact as the weights: 0.1 is not below 0.1
    const heads = this.active();
    const colors = this.data.colors[this.scheme];
    // Each head has a lane of its own within a row, so heads that agree do not hide one another.
    const pitch = Math.min(5, (0.8 * row) / heads.length);
    const widest = heads.length === 1 ? 6 : Math.max(2, 0.95 * pitch);
    const faintest = chosen ? 0.25 : 0.1;
    const wanted = { query: new Set(chosen?.query), key: new Set(chosen?.key) };
    const paths = range(STRENGTHS).map(() => new Map());
    let count = 0;
    heads.forEach((head, lane) => {
      const shift = (lane - (heads.length - 1) / 2) * pitch + row / 2;
      for (let query = 0; query < queries; query++) {
        for (let key = 0; key < keys; key++) {
          const weight = weights[(head * queries + query) * keys + key];
          // A masked pair is negative.
          if (!(weight > 0) || weight < threshold) continue;
          if (chosen && !wanted.query.has(query) && !wanted.key.has(key)) continue;
          const strength = Math.min(STRENGTHS - 1, Math.floor(weight * STRENGTHS));
          if (!paths[strength].has(head)) paths[strength].set(head, new Path());
          const path = paths[strength].get(head);
          const [from, to] = [query * row + shift, key * row + shift];
          path.moveTo(0, from);
          path.bezierCurveTo(0.4 * width, from, 0.6 * width, to, width, to);
          count++;
        }
      }
    });
    paths.forEach((byHead, strength) => {
      const weight = (strength + 0.5) / STRENGTHS;
      const [alpha, wide] = [faintest + (1 - faintest) * weight, 0.6 + (widest - 0.6) * weight];
      for (const [head, path] of byHead) stroke({ path, color: colors[head % colors.length], alpha, wide });
    });
    return count;
  }

  // All of it as an SVG: the heads that are on, the columns, the lines.
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
      for (const token of this.columns[side].children) {
        const [x, y, width, height] = sheet.place(token);
        const long = width * Number(token.style.getPropertyValue("--share") || 0);
        const bar = [side === "query" ? x + width - long : x, y, long, height];
        if (long) sheet.rect(bar, { fill: getComputedStyle(this.root).getPropertyValue("--st-primary-color"), "fill-opacity": 0.42 });
        for (const words of token.children) sheet.write(words);
      }
    }
    const [x, y, width, height] = sheet.place(this.canvas);
    sheet.raw(`<svg x="${x}" y="${y}" width="${width}" height="${height}">`);
    this.strokes(this.chosen(), Written, ({ path, color, alpha, wide }) => {
      sheet.add("path", { d: path.d, fill: "none", stroke: color, "stroke-opacity": alpha, "stroke-width": wide });
    });
    sheet.raw("</svg>");
    return sheet.svg();
  }
}

// A path as SVG writes it, with as much of a Path2D as is used here.
class Written {
  d = "";

  moveTo(x, y) {
    this.d += `M${x.toFixed(1)} ${y.toFixed(1)}`;
  }

  bezierCurveTo(...points) {
    this.d += `C${points.map((at) => at.toFixed(1)).join(" ")}`;
  }
}

// --- small helpers

function indexOf(target) {
  const index = target.closest?.("[data-index]")?.dataset.index;
  return index === undefined ? null : Number(index);
}

// The mean over some heads of each pair, [query * key]; −1 where the pair is masked in all of them.
function mean(weights, [, queries, keys], heads) {
  const size = queries * keys;
  const means = new Float32Array(size).fill(-1);
  for (let pair = 0; pair < size; pair++) {
    let sum = 0;
    let seen = 0;
    for (const head of heads) {
      const weight = weights[head * size + pair];
      if (weight < 0) continue;
      sum += weight;
      seen++;
    }
    if (seen) means[pair] = sum / heads.length;
  }
  return means;
}

function isLight(color) {
  const [red, green, blue] = color.match(/[\d.]+/g).map(Number);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 128;
}
