// Which cells are marked after a click, a drag or a key. Cells are numbered row by row.

/**
 * The marks after some cells were marked or cleared. If there are too many marks, the oldest ones are cleared.
 *
 * @param {number[]} marks in the order in which they were made
 * @param {number[]} cells
 * @param {boolean} on
 * @param {number} most how many cells can be marked; 0 means no limit
 * @returns {number[]} in the order in which they were made
 */
export function markedCells(marks, cells, on, most) {
  const kept = marks.filter((cell) => !cells.includes(cell));
  return on ? [...kept, ...cells].slice(-most) : kept;
}

/**
 * Marks in ascending order, so that they can be compared.
 *
 * @param {number[]} marks
 */
export function ascending(marks) {
  return [...marks].sort((one, other) => one - other);
}

/** Separates marks that the server only sends back from marks that were set elsewhere. */
export class Echoes {
  /** @type {string[]} */ sent = []; // marks that the server has not sent back yet
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
   * Whether marks that the server sends were set elsewhere, such as by the browser's Back. If so, they replace the marks here.
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
