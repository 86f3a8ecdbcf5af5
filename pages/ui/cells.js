// Cells in rows: those under a point, those of a map with fewer pixels, the one that a key moves to; and tiles with captions.

import { range } from "./component.js";
import { strongestCell } from "./strongest.js";

const GAP = 10; // px between two tiles with captions; head_grid.css has the same sizes
const LINE = 1.4 * 16; // px of the line of a caption
const TALLEST = 545; // px: height of all tiles and labels; with legend and words, the whole is lower than 620 px
const LARGEST = 220; // px: largest side of a tile
const READABLE = 56; // px: smallest height of a tile with a caption; if there are many tiles, the picture grows instead

/**
 * The number of tiles in a row of the picture, if each has a caption below it: the one with the highest tiles.
 *
 * @param {number} count how many tiles there are
 * @param {{ width: number, least: number, scale: number }} room the width of the picture and of the widest caption in px; the
 *   size of letters compared with an ordinary page
 */
export function columnsOfCaptions(count, { width, least, scale }) {
  let best = { columns: 1, height: 0 };
  for (let columns = 1; columns <= Math.min(count, Math.floor(width / (least + GAP))); columns++) {
    const share = TALLEST / Math.ceil(count / columns) - GAP - LINE * scale;
    const height = Math.min(LARGEST, width / columns - GAP, Math.max(READABLE, share));
    if (height >= best.height) best = { columns, height };
  }
  return best.columns;
}

/**
 * The cell that a key moves to, or null for a key that never moves. Cells are numbered row by row, and the last row may be short.
 * Left and right stay in the row.
 *
 * @param {string} key
 * @param {number} cell
 * @param {number} columns
 * @param {number} count how many cells there are
 */
export function cellAfterKey(key, cell, columns, count) {
  const start = cell - (cell % columns);
  const end = Math.min(count, start + columns) - 1;
  switch (key) {
    case "ArrowLeft":
      return Math.max(start, cell - 1);
    case "ArrowRight":
      return Math.min(end, cell + 1);
    case "ArrowUp":
      return cell < columns ? cell : cell - columns;
    case "ArrowDown":
      return cell + columns < count ? cell + columns : cell;
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

/**
 * The levels of a map with at most as many rows and columns as pixels. If several cells share a pixel, the strongest one counts.
 *
 * @param {Uint8Array} levels [map, query, key]
 * @param {[queries: number, keys: number]} shape
 * @param {number} map
 * @param {number} rows
 * @param {number} columns
 * @returns {ArrayLike<number>}
 */
export function shrunk(levels, [queries, keys], map, rows, columns) {
  if (rows === queries && columns === keys) return levels.subarray(map * rows * columns, (map + 1) * rows * columns);
  const ofKeys = range(columns).map((column) => cellsUnder(column, columns, keys));
  return range(rows).flatMap((row) => {
    const ofQueries = cellsUnder(row, rows, queries);
    return ofKeys.map((those) => strongestCell(levels, [queries, keys], map, ofQueries, those)?.level ?? 0);
  });
}
