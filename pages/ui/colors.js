// Converts bytes to colours. The colours are defined in transformer/figures/theme.py and come with the data or as CSS variables.

import { decodeBase64, range } from "./component.js";

export const MASKED_LEVEL = 255; // the level of a cell that a mask hides
export const TOP_LEVEL = 254; // the level of the highest value of a scale, such as a weight of 1

/** One pixel for each level. From the highest byte to the lowest: alpha, blue, green, red. @typedef {Uint32Array<ArrayBuffer>} Pixels */

/**
 * The pixels of a scale. Level 255 (masked) is transparent, so that the hatch below it is visible.
 *
 * @param {string} base64 red, green and blue of each level
 * @returns {Pixels}
 */
export function pixelsOfScale(base64) {
  const shades = decodeBase64(base64);
  const pixels = new Uint32Array(256);
  const bytes = new Uint8Array(pixels.buffer);
  for (let level = 0; level <= TOP_LEVEL; level++) bytes.set([...shades.subarray(3 * level, 3 * level + 3), 255], 4 * level);
  return pixels;
}

/**
 * The colour of a level in CSS.
 *
 * @param {Pixels} pixels
 * @param {number} level
 */
export function cssColor(pixels, level) {
  return `rgb(${new Uint8Array(pixels.buffer, 4 * level, 3).join()})`;
}

/**
 * Colours at equal steps of a scale, each with its offset along the scale, from 0 to 1.
 *
 * @param {Pixels} pixels
 * @param {number} steps
 * @returns {[offset: number, color: string][]}
 */
export function colorStops(pixels, steps) {
  return range(steps + 1).map((step) => [step / steps, cssColor(pixels, Math.round((step * TOP_LEVEL) / steps))]);
}

/**
 * A scale as a CSS gradient, with the lowest value at the left.
 *
 * @param {Pixels} pixels
 * @param {number} steps
 */
export function ramp(pixels, steps = 16) {
  return `linear-gradient(to right, ${colorStops(pixels, steps).map(([offset, color]) => `${color} ${100 * offset}%`)})`;
}

/**
 * A scale as a gradient of an SVG.
 *
 * @param {Pixels} pixels
 * @param {string} id
 */
export function svgRamp(pixels, id) {
  const stops = colorStops(pixels, 16).map(([offset, color]) => `<stop offset="${offset}" stop-color="${color}"/>`);
  return `<linearGradient id="${id}">${stops.join("")}</linearGradient>`;
}

/**
 * Whether a colour is nearer to white than to black.
 *
 * @param {string} color `rgb(…)` or `rgba(…)`
 */
export function isLight(color) {
  const [red, green, blue] = (color.match(/[\d.]+/g) ?? []).map(Number);
  return 0.299 * red + 0.587 * green + 0.114 * blue > 128;
}
