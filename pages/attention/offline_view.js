// The Attention page as one file without a server: the grid of all heads and the lines of one layer. A click on a head shows
// it.

import { decodeBase64 } from "../ui/component.js";
import { fillIn } from "../ui/format.js";

/**
 * @typedef {{
 *   layer: number, head: number, heading: string, grid: object, levels: string, lines: object, weights: string[],
 * }} View the head that is shown first, and the data of both components; `weights` has an entry for each layer
 */

/** @typedef {(mount: import("../ui/component.js").Mount<any>) => unknown} Component */

/**
 * @param {View} view
 * @param {Component} headGrid
 * @param {Component} lines
 */
export default function offlineView(view, headGrid, lines) {
  const levels = decodeBase64(view.levels);
  let { layer, head } = view;
  const heading = /** @type {HTMLElement} */ (document.getElementById("head"));
  /** @param {string} id */
  const place = (id) => /** @type {ParentNode} */ (document.getElementById(id)?.shadowRoot);

  const draw = () => {
    heading.textContent = fillIn(view.heading, { layer: layer + 1, head: head + 1 });
    headGrid({
      data: packed({ ...view.grid, selected: [layer, head] }, levels),
      parentElement: place("grid"),
      setStateValue() {},
      setTriggerValue(_name, tile) {
        [layer, head] = /** @type {[number, number]} */ (tile);
        draw();
      },
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

/**
 * The data and the bytes of an array in one array of bytes, in the format of `parcel` in component.py.
 *
 * @param {object} data
 * @param {Uint8Array} array
 */
function packed(data, array) {
  const header = new TextEncoder().encode(JSON.stringify(data));
  const parcel = new Uint8Array(4 + header.length + array.length);
  new DataView(parcel.buffer).setUint32(0, header.length, true);
  parcel.set(header, 4);
  parcel.set(array, 4 + header.length);
  return parcel;
}
