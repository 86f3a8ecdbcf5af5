// The places of the tiles of the head grid, the cells under a point, and the tile that a key moves to.

import { range } from "./component.js";
import { fillIn } from "./format.js";

const TALLEST = 545; // px: height of tiles and labels; with legend and words, the whole is lower than 620 px
const LARGEST = 220; // px: largest side of a tile
const SMALLEST = 14; // px: smallest height of a tile if there are very many layers
const READABLE = 56; // px: smallest height of a tile with a caption; if there are many tiles, the picture grows instead
const WIDEST = 1.5; // largest ratio of a tile's width to its height
const MARGIN = 6; // px, for the frame of the last tile

/** @typedef {[layer: number, head: number]} Tile */

/** A label, its place in px, and the index of the tile that it names. @typedef {{ says: string, role: string, tile?: number, left: number, top: number, width?: number, height?: number }} Label */

/**
 * In px: corner of the first tile (left, top), size of a tile (w, h), distance from a tile to the next one (across, down), and
 * size of the whole picture (width, height). `columns` is the number of tiles in a row.
 *
 * @typedef {{
 *   left: number, top: number, w: number, h: number, across: number, down: number, columns: number,
 *   width: number, height: number, labels: Label[],
 * }} Layout
 */

/** Available width in px, whether it is as narrow as a phone, size of the letters in px, and a function that returns the width of the widest of some texts. @typedef {{ width: number, narrow: boolean, size: number, measured: (texts: string[]) => number }} Room */

/**
 * The layout of the full grid: layers down, heads across.
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
  // If "head 12" does not fit above a tile, only its number is written there, and the word is written once for all tiles.
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
 * The layout of tiles in a given order, left to right and top to bottom, with a caption under each tile.
 *
 * @param {Room} room
 * @param {string[]} captions one per tile
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
 * Index of the tile at a point of the picture; a gutter belongs to the tile before it. Null if there is no tile.
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
 * Index of the tile that a key moves to, or null for a key that never moves. Left and right stay in the row.
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
 * The range of cells under pixel `position` of `size` pixels: the first cell, and the one after the last. The range has several
 * cells only if there are more cells than pixels.
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
