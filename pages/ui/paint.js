// Levels as the pixels of a canvas.

import { penOf } from "./component.js";

/**
 * Show levels on a canvas, with one pixel for each, row by row. Masked cells stay transparent.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {ArrayLike<number>} levels at least one for each pixel
 * @param {number} columns
 * @param {number} rows
 * @param {import("./colors.js").Pixels} pixels
 */
export function paintLevels(canvas, levels, columns, rows, pixels) {
  Object.assign(canvas, { width: columns, height: rows });
  if (!columns || !rows) return;
  const image = new ImageData(columns, rows);
  const shades = new Uint32Array(image.data.buffer);
  for (let cell = 0; cell < shades.length; cell++) shades[cell] = pixels[levels[cell]];
  penOf(canvas).putImageData(image, 0, 0);
}
