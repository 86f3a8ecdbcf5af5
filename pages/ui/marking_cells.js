// Which cells are marked after a click, a drag or a key. Cells are numbered row by row.

import { clamp } from "./component.js";

/**
 * The marks after some cells were marked or cleared. Of too many, the oldest goes.
 *
 * @param {number[]} marks in the order in which they were made
 * @param {number[]} cells
 * @param {boolean} on
 * @param {number} most 0 without a limit
 * @returns {number[]} in the order in which they were made
 */
export function markedCells(marks, cells, on, most) {
  const kept = marks.filter((cell) => !cells.includes(cell));
  return on ? [...kept, ...cells].slice(-most) : kept;
}

/**
 * Marks as they are compared.
 *
 * @param {number[]} marks
 */
export function ascending(marks) {
  return [...marks].sort((one, other) => one - other);
}

/** What the server sends back of what a person has marked, apart from what was set elsewhere. */
export class Echoes {
  /** @type {string[]} */ sent = []; // not yet back
  received = "";

  /**
   * Note marks that are sent.
   *
   * @param {number[]} marks
   */
  note(marks) {
    this.sent.push(ascending(marks).join());
  }

  /**
   * Whether marks that the server sends were set elsewhere, as by the browser's Back: then they hold.
   *
   * @param {number[]} marks
   */
  elsewhere(marks) {
    const value = ascending(marks).join();
    const news = value !== this.received;
    this.received = value;
    const place = this.sent.lastIndexOf(value);
    if (place >= 0) this.sent.splice(0, place + 1);
    if (place >= 0 || (this.sent.length && !news)) return false;
    this.sent = [];
    return true;
  }
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
