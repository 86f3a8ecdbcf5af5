// A Plotly chart that stays on the page. It is mounted once, when it comes near the screen; each later figure only updates it, so it
// keeps its zoom and does not blink. A click, a selection and a cursor for the keyboard reach Python as numbers by name of axis.
//
// It imports nothing from outside this folder, so that it can be used in other apps (README.md).

import { Cursor } from "./cursor.js";
import { moveFrom, placesOf } from "./moves.js";
import { hoverPoints, pointOf, subplotsOf } from "./points.js";
import { themed, themeOf } from "./theme.js";
import { equalBytes, unpack } from "./unpack.js";

/**
 * The functions of Plotly that are used here. All are documented.
 *
 * @typedef {{
 *   react: (plot: Plot, data: Trace[], layout: Layout, config: object) => Promise<void>,
 *   relayout: (plot: Plot, change: object) => Promise<void>,
 *   toImage: (figure: object, options: object) => Promise<string>,
 *   Plots: { resize: (plot: Plot) => void },
 *   Fx: { hover: (plot: Plot, points: object[], subplots: string[]) => void, unhover: (plot: Plot) => void },
 * }} Plotly
 */

/** @typedef {HTMLElement & { layout?: Layout, on: (event: string, act: (event: any) => void) => void }} Plot */

/** @typedef {Record<string, any> & { type?: string }} Trace */

/** @typedef {Record<string, any>} Layout */

/**
 * @typedef {{
 *   data: Trace[], layout: Layout, config: Record<string, unknown>, alt: string, width: number | null, narrow: number[],
 *   asks: string[], plotly: string, words: Record<string, string>, name: string,
 * }} Figure
 */

/** @typedef {(name: string, value: unknown) => void} Send */

// How far from the screen a chart is drawn. The page scrolls within an element: browsers that do not know `scrollMargin` yet draw a
// chart when it comes on screen.
const NEAR = { rootMargin: "100% 0px", scrollMargin: "100% 0px" };
const HEIGHT = 450; // px of a figure without a height of its own, as in Plotly
const MARGIN = 16; // px around a chart on the whole screen
const ENLARGE = { width: 24, height: 24, path: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z" };

/** @type {WeakMap<Element, Chart>} */
const charts = new WeakMap();

/**
 * @param {{ data: ArrayBuffer | Uint8Array, parentElement: ParentNode, setStateValue: Send, setTriggerValue: Send }} mount
 */
export default function chart({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".chart"));
  const shown = charts.get(root) ?? new Chart(root);
  charts.set(root, shown);
  shown.send = setTriggerValue;
  shown.keep = setStateValue;
  shown.show(data instanceof ArrayBuffer ? new Uint8Array(data) : data);
}

class Chart {
  /** @type {Uint8Array} */ bytes;
  /** @type {Figure} */ figure;
  /** @type {Plotly} */ plotly;
  /** @type {Send} */ send = () => {};
  /** @type {Send} */ keep = () => {};
  /** @type {object[] | undefined} */ buttons;
  /** @type {object[]} */ marks = []; // shapes that another script has asked for
  /** @type {Map<string, number[]>} */ zooms = new Map(); // the name of an axis → the part of it that the visitor has zoomed into
  sizesOfData = "";
  drawing = Promise.resolve();
  near = false;
  narrow = 0; // as Python knows it
  listens = false;
  theme = "";

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.plot = /** @type {Plot} */ (/** @type {unknown} */ (document.createElement("div")));
    this.said = document.createElement("p");
    this.said.setAttribute("aria-live", "polite");
    root.replaceChildren(this.plot, this.said);
    this.cursor = new Cursor(this);
    this.onScreen = new IntersectionObserver((entries) => this.approach(entries.some((entry) => entry.isIntersecting)), NEAR);
    this.onScreen.observe(root);
    queueMicrotask(() => root.dispatchEvent(new CustomEvent("chart", { bubbles: true }))); // other scripts may mark it now
    this.sizes = new ResizeObserver(() => this.fit());
    root.addEventListener("pointerdown", (event) => {
      this.cursor.rests = true;
      this.moveToTap(event);
    });
    root.addEventListener("keydown", (event) => this.cursor.key(event));
    root.addEventListener("blur", () => this.cursor.leave());
    // The style of the page changes after Streamlit has called the component.
    root.addEventListener("transitionend", ({ target }) => target === root && this.show(this.bytes));
    root.addEventListener("fullscreenchange", () => this.fit());
    root.addEventListener("save", (event) => this.save(/** @type {CustomEvent} */ (event).detail));
    root.addEventListener("mark", (event) => this.mark(/** @type {CustomEvent} */ (event).detail));
  }

  /**
   * Show a figure. Streamlit calls this after every change of the data or the theme.
   *
   * @param {Uint8Array} bytes
   */
  show(bytes) {
    const theme = JSON.stringify(themeOf(this.root));
    if (this.theme === theme && equalBytes(this.bytes, bytes)) return;
    this.bytes = bytes;
    this.theme = theme;
    [this.figure] = unpack(bytes);
    const { alt, width } = this.figure;
    const { root, plot } = this;
    root.dataset.name = this.figure.name;
    root.tabIndex = 0;
    root.setAttribute("role", "application");
    root.setAttribute("aria-roledescription", this.figure.words.role);
    root.setAttribute("aria-label", alt);
    plot.style.minWidth = width ? `${width}px` : "";
    plot.style.height = `${this.height}px`;
    root.dataset.state ??= "drawing";
    if (this.near) this.draw();
  }

  /**
   * Draw the figure once the chart is near the screen.
   *
   * @param {boolean} near
   */
  approach(near) {
    const first = near && !this.near;
    this.near ||= near;
    if (first) this.draw();
    else if (!this.near) this.root.dataset.state = "waiting";
  }

  /** Draw the newest figure, after what is being drawn now. */
  draw() {
    const { bytes, root } = this;
    root.dataset.state = "drawing";
    this.drawing = this.drawing
      .then(async () => {
        if (this.bytes === bytes) await this.update();
      })
      .catch((error) => {
        root.dataset.state = "failed";
        this.said.textContent = this.figure.words.failed;
        console.error(error);
      });
  }

  async update() {
    this.plotly = await plotlyAt(this.figure.plotly);
    const { bytes, figure, plot, root, theme } = this; // a newer figure may have come while Plotly was loaded
    const before = placesOf(plot);
    await this.plotly.react(plot, figure.data, this.layout(), this.config);
    moveFrom(plot, before);
    if (!this.listens) this.listen();
    this.cursor.stay();
    if (this.theme === theme && this.bytes === bytes) root.dataset.state = "drawn";
  }

  /** The layout of the figure, with the theme of the page and the marks. A zoom is kept until the sizes of the data change. */
  layout() {
    const { data, layout } = this.figure;
    const sizes = data
      .map((trace) => [trace.type, (trace.z ?? trace.y ?? trace.x)?.length, trace.z?.[0]?.length].join())
      .join();
    if (sizes !== this.sizesOfData) this.zooms.clear();
    this.sizesOfData = sizes;
    const whole = themed(layout, JSON.parse(this.theme));
    for (const [axis, range] of this.zooms) whole[axis] = { ...whole[axis], range: [...range], autorange: false };
    return { ...whole, height: this.height, shapes: [...(whole.shapes ?? []), ...this.marks] };
  }

  /** The height of the chart in px. On the whole screen, it is as high as the screen. */
  get height() {
    const { height = HEIGHT } = this.figure.layout;
    return document.fullscreenElement === this.root ? Math.max(innerHeight - MARGIN, height) : height;
  }

  listen() {
    const { plot } = this;
    this.listens = true;
    plot.on("plotly_click", ({ points }) => this.tell("click", points));
    plot.on("plotly_hover", ({ points }) => {
      if (this.figure.layout.meta?.together?.includes(points[0].curveNumber)) this.hover(points[0]);
      if (this.figure.asks.includes("hover")) this.keep("hover", this.named(points[0]));
    });
    plot.on("plotly_unhover", () => this.figure.asks.includes("hover") && this.keep("hover", null));
    plot.on("plotly_relayout", (change) => this.zoomed(change));
    plot.on("plotly_doubleclick", () => this.figure.asks.includes("zoom") && this.send("zoom", { axis: null }));
    plot.on("plotly_selected", (event) => {
      if (this.figure.asks.includes("selection")) this.keep("selection", event?.points.map(this.named, this) ?? []);
    });
    for (const part of [this.root, plot]) this.sizes.observe(part); // a new figure can have another least width
  }

  /**
   * Show the label of a point, and of the points that are shown together with it.
   *
   * @param {{ curveNumber: number, pointNumber: number | number[] }} point
   */
  hover({ curveNumber, pointNumber }) {
    const points = hoverPoints({ curveNumber, pointNumber }, this.figure);
    this.plotly.Fx.hover(this.plot, points, subplotsOf(points, this.figure));
  }

  /**
   * Send a point to Python, if the figure asks for such events.
   *
   * @param {string} name
   * @param {Parameters<typeof pointOf>[0][]} points of an event of Plotly
   */
  tell(name, points) {
    if (points.length && this.figure.asks.includes(name)) this.send(name, this.named(points[0]));
  }

  /** @param {Parameters<typeof pointOf>[0]} point of an event of Plotly */
  named(point) {
    return pointOf(point, this.figure);
  }

  /**
   * Note the part of each axis that is shown, and tell Python about a horizontal one.
   *
   * @param {Record<string, any>} change
   */
  zoomed(change) {
    for (const key of Object.keys(change)) {
      const [, axis] = key.match(/^([xy]axis\d*)\./) ?? [];
      if (!axis) continue;
      const range = [change[`${axis}.range[0]`], change[`${axis}.range[1]`]];
      if (range[1] === undefined) this.zooms.delete(axis);
      else this.zooms.set(axis, range);
      if (!key.startsWith("x") || !key.endsWith("[0]") || !this.figure.asks.includes("zoom")) continue;
      this.send("zoom", { axis: Number(axis.slice("xaxis".length) || 1), first: range[0], last: range[1] });
    }
  }

  fit() {
    this.tellNarrow();
    this.plot.style.height = `${this.height}px`;
    if (this.listens && this.root.clientWidth) this.plotly.Plots.resize(this.plot);
  }

  /** Tell Python when the chart becomes narrower or wider than the figure asks. */
  tellNarrow() {
    const { figure, root } = this;
    const narrow = figure.narrow.filter((px) => root.clientWidth < px).length;
    if (!root.clientWidth || narrow === this.narrow) return;
    // No person asked for this message. An app may hold it back until it can answer it (README.md).
    const again = () => this.tellNarrow();
    const about = { bubbles: true, cancelable: true, composed: true, detail: again };
    if (!root.dispatchEvent(new CustomEvent("chart-tells", about))) return;
    this.narrow = narrow;
    this.keep("narrow", narrow);
  }

  /** Plotly mounts the chart anew if its configuration changes, so the buttons are made once. */
  get config() {
    const click = () => (document.fullscreenElement ? document.exitFullscreen() : this.root.requestFullscreen());
    this.buttons ??= document.fullscreenEnabled
      ? [{ name: "enlarge", title: this.figure.words.enlarge, icon: ENLARGE, click }]
      : [];
    return { ...this.figure.config, modeBarButtonsToAdd: this.buttons };
  }

  /**
   * Plotly picks the point of the last mouse move, but the browser reports a mouse move only after a tap. Without this move, a tap
   * picks nothing, and the next tap picks the point of the first one.
   *
   * @param {PointerEvent} event
   */
  moveToTap({ pointerType, target, clientX, clientY }) {
    if (pointerType !== "touch") return;
    target?.dispatchEvent(new MouseEvent("mousemove", { clientX, clientY, bubbles: true }));
  }

  /**
   * Make a picture of the figure as it is drawn, and give its address to `take`.
   *
   * @param {{ format: string, background: string, take: (address: string) => void }} picture
   */
  async save({ format, background, take }) {
    this.plotly = await plotlyAt(this.figure.plotly);
    /** @type {Record<string, any>} */
    const shown = this.layout();
    // A picture in a file has none of the page's fonts. In another font than it is measured in, a legend would be cut off.
    const font = { ...shown.font, family: "sans-serif" };
    const width = this.plot.clientWidth;
    const figure = { data: this.figure.data, layout: { ...shown, font, width, paper_bgcolor: background } };
    take(await this.plotly.toImage(figure, { format, scale: 2, width, height: shown.height }));
  }

  /**
   * Draw shapes above the figure, without a new figure.
   *
   * @param {object[]} marks shapes as in a layout of Plotly
   */
  mark(marks) {
    this.marks = marks;
    if (this.root.dataset.state === "drawn") this.plotly.relayout(this.plot, { shapes: this.layout().shapes });
  }
}

/** @type {Map<string, Promise<Plotly>>} */
const loaded = new Map();

/**
 * Plotly, loaded once for all charts. Its script is no module, and sets a name of the window.
 *
 * @param {string} address relative to the address of the app
 */
function plotlyAt(address) {
  let script = loaded.get(address);
  if (!script) {
    script = import(new URL(address, document.baseURI).href).then(() => /** @type {any} */ (window).Plotly);
    script.catch(() => loaded.delete(address)); // the next chart tries again
    loaded.set(address, script);
  }
  return script;
}
