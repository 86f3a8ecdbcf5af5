// The Attention page as one file without a server: the grid of all heads and the lines of one layer. A click on a head shows
// it.

import { decodeBase64 } from "../ui/component.js";
import { fillIn } from "../ui/format.js";
import { HeadGrid } from "../ui/head_grid_view.js";
import lines from "./lines.js";

/**
 * @typedef {{
 *   layer: number, head: number, heading: string, grid: import("../ui/head_grid_view.js").Data, levels: string,
 *   lines: import("./lines.js").Data, weights: string[],
 * }} View the head that is shown first, and the data of both components; `weights` has an entry for each layer
 */

/** @param {View} view */
export default function offlineView(view) {
  const levels = decodeBase64(view.levels);
  let { layer, head } = view;
  const heading = /** @type {HTMLElement} */ (document.getElementById("head"));
  /** @param {string} id */
  const place = (id) => /** @type {ShadowRoot} */ (document.getElementById(id)?.shadowRoot);
  const grid = new HeadGrid(/** @type {HTMLElement} */ (place("grid").querySelector(".head_grid")), view.grid.text);

  const draw = () => {
    heading.textContent = fillIn(view.heading, { layer: layer + 1, head: head + 1 });
    grid.update({ ...view.grid, selected: [layer, head] }, levels, (_name, tile) => {
      [layer, head] = /** @type {[number, number]} */ (tile);
      draw();
    });
    lines({
      data: { ...view.lines, weights: view.weights[layer], head },
      parentElement: place("lines"),
      setStateValue() {},
      setTriggerValue() {},
    });
  };
  draw();
}
