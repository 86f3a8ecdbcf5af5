// Which cells are marked after a click, a drag or a key. Cells are numbered row by row.

import { clamp } from "./component.js";

/**
 * The marks after some cells were marked or cleared.
 *
 * @param {number[]} marks ascending
 * @param {number[]} cells
 * @param {boolean} on
 * @param {boolean} single whether a mark replaces the one before
 * @returns {number[]} ascending
 */
export function markedCells(marks, cells, on, single) {
  if (on && single) return cells.slice(-1);
  const kept = marks.filter((cell) => !cells.includes(cell));
  return (on ? [...kept, ...cells] : kept).sort((one, other) => one - other);
}

/**
 * The cell to which a key moves; the same cell if the key moves nothing.
 *
 * @param {string} key
 * @param {number} cell
 * @param {number} rows
 * @param {number} columns
 */
export function cellAfterKey(key, cell, rows, columns) {
  const [row, column] = [Math.floor(cell / columns), cell % columns];
  /** @type {Record<string, [number, number]>} */
  const places = {
    ArrowLeft: [row, column - 1],
    ArrowRight: [row, column + 1],
    ArrowUp: [row - 1, column],
    ArrowDown: [row + 1, column],
    Home: [row, 0],
    End: [row, columns - 1],
  };
  const [down, across] = places[key] ?? [row, column];
  return clamp(0, down, rows - 1) * columns + clamp(0, across, columns - 1);
}
