// Where the tiles of the head grid stand, which cell lies under a point, and which tile a key leads to.

import { range } from "./component.js";
import { fillIn } from "./format.js";

const TALLEST = 545; // px of tiles and labels; with legend and words the whole stays below 620
const LARGEST = 220; // px, the side of a tile
const SMALLEST = 14; // px, the height of a tile where there are very many layers
const READABLE = 56; // px, the same where tiles have captions: then the picture grows instead
const WIDEST = 1.5; // width of a tile ÷ its height, at most
const MARGIN = 6; // px, for the frame of the last tile

/** @typedef {[layer: number, head: number]} Tile */

/** A word at a place, of which tile. @typedef {{ says: string, role: string, tile?: number, left: number, top: number, width?: number, height?: number }} Label */

/**
 * Corner of the first tile, size of a tile, distance from one to the next, tiles in a row, and size of the whole; px.
 *
 * @typedef {{
 *   left: number, top: number, w: number, h: number, across: number, down: number, columns: number,
 *   width: number, height: number, labels: Label[],
 * }} Layout
 */

/** Room in px, whether it is that of a phone, size of the words in px, and how wide the widest of some words is. @typedef {{ width: number, narrow: boolean, size: number, measured: (texts: string[]) => number }} Room */

/**
 * Layers down, heads across.
 *
 * @param {Room} room
 * @param {number} layers
 * @param {number} heads
 * @param {Record<string, string>} text
 * @returns {Layout}
 */
export function gridLayout({ width, narrow, size, measured }, layers, heads, text) {
  const gap = narrow ? 4 : layers > 8 ? 6 : 9;
  const rows = range(layers).map((layer) => fillIn(text.layer, { layer: layer + 1 }));
  const columns = range(heads).map((head) => fillIn(text.head, { head: head + 1 }));
  const line = Math.ceil(1.4 * size);
  let left = measured(rows) + size;
  const frame = narrow ? 3 : 6;
  let top = line + frame;
  // Where "head 12" does not fit over a tile, numbers stand there, and the word once.
  const short = Math.floor((width - left) / heads) < measured(columns) + size / 2;
  if (short) [left, top] = [line + measured([String(layers)]) + size, top + line];
  left = Math.ceil(left);
  const wide = Math.min(LARGEST, Math.floor((width - left - MARGIN + gap) / heads) - gap);
  const h = Math.max(SMALLEST, Math.min(wide, Math.floor((TALLEST - top) / layers) - gap));
  const w = Math.max(4, Math.min(wide, Math.floor(WIDEST * h)));
  const [across, down] = [w + gap, h + gap];
  /** @type {Label[]} */
  const labels = [
    ...columns.map((says, head) => {
      const box = { left: left + head * across - gap / 2, top: top - line - frame, width: across };
      return { says: short ? String(head + 1) : says, role: "column", tile: head, ...box };
    }),
    ...rows.map((says, layer) => {
      const box = { left: short ? line : 0, top: top + layer * down + h / 2, width: left - (short ? line : 0) };
      return { says: short ? String(layer + 1) : says, role: "row", tile: layer * heads, ...box };
    }),
  ];
  if (short) {
    labels.push({ says: text.heads, role: "title", left, top: 0, width: heads * across - gap });
    labels.push({ says: text.layers, role: "title down", left: 0, top, height: layers * down - gap });
  }
  const whole = { width: left + heads * across - gap + MARGIN, height: top + layers * down - gap + MARGIN };
  return { left, top, w, h, across, down, columns: heads, ...whole, labels };
}

/**
 * In an order of their own, left to right and top to bottom, a caption under each.
 *
 * @param {Room} room
 * @param {string[]} captions one a tile
 * @returns {Layout}
 */
export function captionedLayout({ width, narrow, size, measured }, captions) {
  const count = captions.length;
  const gap = narrow ? 6 : 10;
  const line = Math.ceil(1.4 * size) + 2;
  const room = width - 2 * MARGIN + gap;
  const least = Math.min(room, measured(captions) + gap);
  let best = { columns: 1, w: room - gap, h: 0 };
  for (let columns = 1; columns <= Math.min(count, Math.floor(room / least)); columns++) {
    const wide = Math.min(LARGEST, Math.floor(room / columns) - gap);
    const high = Math.floor(TALLEST / Math.ceil(count / columns)) - gap - line;
    const h = Math.min(wide, Math.max(READABLE, high));
    if (h >= best.h) best = { columns, h, w: Math.max(least - gap, Math.min(wide, Math.floor(WIDEST * h))) };
  }
  const { columns, w, h } = best.h ? best : { ...best, h: READABLE };
  const [across, down] = [w + gap, h + line + gap];
  const labels = captions.map((says, index) => {
    const [row, column] = [Math.floor(index / columns), index % columns];
    const box = { left: MARGIN + column * across - gap / 2, top: MARGIN + row * down + h + 4, width: across };
    return { says, role: "caption", tile: index, ...box };
  });
  const whole = { width: 2 * MARGIN + columns * across - gap, height: 2 * MARGIN + Math.ceil(count / columns) * down - gap };
  return { left: MARGIN, top: MARGIN, w, h, across, down, columns, ...whole, labels };
}

/**
 * The upper left corner of a tile.
 *
 * @param {Layout} layout
 * @param {number} index
 * @returns {[x: number, y: number]}
 */
export function cornerOf({ left, top, across, down, columns }, index) {
  return [left + (index % columns) * across, top + Math.floor(index / columns) * down];
}

/**
 * Index of the tile at a point of the picture; a gutter belongs to the tile before it. Null: there is none.
 *
 * @param {Layout} layout
 * @param {number} count how many tiles there are
 * @param {number} x
 * @param {number} y
 */
export function tileAt({ left, top, across, down, columns }, count, x, y) {
  const [column, row] = [Math.floor((x - left) / across), Math.floor((y - top) / down)];
  const index = row * columns + column;
  return column < 0 || row < 0 || column >= columns || index >= count ? null : index;
}

/**
 * Index of the tile a key leads to, or null if the key leads nowhere. Sideways a row is not left.
 *
 * @param {string} key
 * @param {number} cursor
 * @param {number} columns
 * @param {number} count how many tiles there are
 */
export function tileAfterKey(key, cursor, columns, count) {
  const last = count - 1;
  const start = cursor - (cursor % columns);
  const end = Math.min(last, start + columns - 1);
  switch (key) {
    case "ArrowLeft":
      return Math.max(start, cursor - 1);
    case "ArrowRight":
      return Math.min(end, cursor + 1);
    case "ArrowUp":
      return cursor - columns < 0 ? cursor : cursor - columns;
    case "ArrowDown":
      return cursor + columns > last ? cursor : cursor + columns;
    case "Home":
      return start;
    case "End":
      return end;
    default:
      return null;
  }
}

/**
 * Which cells lie under pixel `position` of `size` pixels, as first and one past the last: one cell, or several where there
 * are more cells than pixels.
 *
 * @param {number} position
 * @param {number} size
 * @param {number} cells
 * @returns {[from: number, to: number]}
 */
export function cellsUnder(position, size, cells) {
  if (cells <= size) {
    const cell = Math.min(cells - 1, Math.floor((position * cells) / size));
    return [cell, cell + 1];
  }
  const pixel = Math.floor(position);
  const from = Math.floor((pixel * cells) / size);
  return [from, Math.max(from + 1, Math.min(cells, Math.floor(((pixel + 1) * cells) / size)))];
}
