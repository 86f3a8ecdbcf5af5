// Cells on a canvas, and the pattern of masked cells.

import { MASKED_LEVEL } from "./colors.js";
import { make, penOf } from "./component.js";

const HATCH_GAP = 6; // px between the strokes over masked cells

/** Left, top, width and height, in px of the canvas. @typedef {[number, number, number, number]} Box */

/**
 * A fill pattern of strokes from the lower left to the upper right.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {number} ratio pixels of the canvas per px of the page
 * @param {string} color
 */
export function hatchPattern(context, ratio, color) {
  const side = Math.round(HATCH_GAP * ratio);
  const stroke = make("canvas", { width: side, height: side });
  const pen = penOf(stroke);
  pen.strokeStyle = color;
  pen.lineWidth = 1.2 * ratio;
  for (const shift of [-side, 0, side]) {
    pen.moveTo(shift - 1, side + 1);
    pen.lineTo(shift + side + 1, -1);
  }
  pen.stroke();
  return /** @type {CanvasPattern} */ (context.createPattern(stroke, "repeat"));
}

/**
 * Draw levels into a box of a canvas: one cell for each level, row by row. Masked cells are not painted.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Uint8Array} levels
 * @param {number} rows
 * @param {number} columns
 * @param {import("./colors.js").Pixels} pixels
 * @param {Box} box
 */
export function paintCells(context, levels, rows, columns, pixels, box) {
  const atlas = make("canvas", { width: columns, height: rows });
  const image = new ImageData(columns, rows);
  const shades = new Uint32Array(image.data.buffer);
  for (let cell = 0; cell < levels.length; cell++) shades[cell] = levels[cell] === MASKED_LEVEL ? 0 : pixels[levels[cell]];
  penOf(atlas).putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(atlas, 0, 0, columns, rows, ...box);
}
