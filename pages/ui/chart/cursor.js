// A cursor that the keys move from point to point. It shows what pointing with a mouse shows, and a screen reader says it.

import { drawnAt, nextSpot, partsOf } from "./points.js";

/** @typedef {import("./points.js").Spot} Spot */

export class Cursor {
  /** @type {Spot | null} */ spot = null;
  rests = false; // after a press on the chart, whose keys then belong to the page

  /** @param {any} chart the chart of chart.js */
  constructor(chart) {
    this.chart = chart;
    this.labels = new MutationObserver(() => this.say());
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { chart } = this;
    if (
      this.rests ||
      event.target !== chart.root ||
      event.altKey ||
      event.ctrlKey ||
      event.metaKey ||
      chart.root.dataset.state !== "drawn"
    )
      return;
    const parts = partsOf(chart.figure);
    if (!parts.length) return;
    const first = { part: 0, row: 0, column: 0 };
    const next = nextSpot(event.key, this.spot ?? first, parts, chart.figure);
    if (next) this.go(this.spot ? next : first);
    else if (this.spot && (event.key === "Enter" || event.key === " ")) this.pick();
    else if (this.spot && event.key === "Escape") this.leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {Spot} spot */
  go(spot) {
    this.spot = spot;
    const { plot, figure } = this.chart;
    const parts = partsOf(figure);
    // Plotly draws the label now or a little later, and sends no event when a script asked for it.
    this.labels.disconnect();
    this.labels.observe(plot.querySelector(".hoverlayer"), { childList: true });
    const drawn = drawnAt(spot, parts[spot.part], figure);
    if (drawn) this.chart.hover(drawn);
  }

  /** Let a screen reader say the label, and bring it on screen. */
  say() {
    const { plot, said } = this.chart;
    said.textContent = hovered(plot);
    plot.querySelector(".hoverlayer .hovertext")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Send the point under the cursor to Python, as a click does. */
  pick() {
    const { chart } = this;
    const spot = /** @type {Spot} */ (this.spot);
    const { data } = chart.figure;
    const drawn = drawnAt(spot, partsOf(chart.figure)[spot.part], chart.figure);
    if (!drawn) return;
    const { curveNumber, pointNumber } = drawn;
    const { x, y, z, customdata } = data[curveNumber];
    const at = Array.isArray(pointNumber)
      ? { z: z[pointNumber[0]][pointNumber[1]] }
      : { x: x?.[pointNumber] ?? pointNumber, y: y?.[pointNumber] ?? pointNumber, customdata: customdata?.[pointNumber] };
    chart.tell("click", [{ curveNumber, pointNumber, ...at }]);
  }

  /** After a new figure, the cursor stays where it is, if the place is still there. */
  stay() {
    const parts = partsOf(this.chart.figure);
    const { spot } = this;
    if (!spot) return;
    const part = parts[spot.part];
    if (part && spot.row < part.rows && spot.column < part.columns) this.go(spot);
    else this.spot = null;
  }

  leave() {
    this.rests = false;
    if (!this.spot) return;
    this.spot = null;
    this.labels.disconnect();
    this.chart.plotly.Fx.unhover(this.chart.plot);
  }
}

/**
 * The words of the labels over the chart, line by line. Labels of points that are shown together have the same lines.
 *
 * @param {HTMLElement} plot
 */
function hovered(plot) {
  const lines = [...plot.querySelectorAll(".hoverlayer .hovertext text")].flatMap((text) => {
    const rows = [...text.querySelectorAll("tspan.line")];
    return rows.length ? rows.map((row) => row.textContent) : [text.textContent];
  });
  return [...new Set(lines)].filter(Boolean).join(", ");
}
